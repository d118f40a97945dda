-- What the sweep of answers that nobody confirmed reads.
create index consent_records_waiting on consent_records (expires_at) where is_latest = 1 and status = 'pending';
