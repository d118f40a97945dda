-- Runs of an edition say of a customer of several editions which these are, and which was given anything last, so that a list of
-- several editions knows by what it has unpacked where it shows the customer. Chunks of before do not say it: these runs are made anew.
alter table customer_runs add column has_owners integer not null default 0 check (has_owners in (0, 1));
-- The generation all of whose chunks say it.
alter table customer_run_states add column owners_generation integer not null default 0;

-- The version before adds deltas that do not say it while it runs beside this one.
create trigger customers_run_without_owners after insert on customer_runs when new.has_owners = 0
begin
  update customer_run_states set owners_generation = 0
    where edition_short_id = new.edition_short_id and owners_generation = new.generation;
end;

-- What one edition was given of a customer, and when, all of theirs say.
drop trigger customers_given_otherwise_in_runs;
create trigger customers_given_otherwise_in_runs after update of created_at, email, phone_number on edition_customers
  when (new.created_at, new.email, new.phone_number) is not (old.created_at, old.email, old.phone_number)
begin
  insert into late_customers (edition_short_id, number, user_seq, is_personal)
    select known.edition_short_id,
      1 + coalesce((select max(number) from late_customers where edition_short_id = known.edition_short_id), 0), new.user_seq,
      known.edition_short_id = new.edition_short_id
    from edition_customers as known
      cross join customer_run_states as state on state.edition_short_id = known.edition_short_id
    where known.user_seq = new.user_seq and known.user_seq < state.noted_until
      and (known.edition_short_id = new.edition_short_id
        or (new.created_at, coalesce(new.email, '') <> '', coalesce(new.phone_number, '') <> '')
          is not (old.created_at, coalesce(old.email, '') <> '', coalesce(old.phone_number, '') <> ''));
end;
