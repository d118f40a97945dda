-- E-mails that follow from an action.

-- The message that an edition sends on each occasion.
create table triggers (
  id text primary key,
  organization_id text not null references organizations (id),
  edition_id text not null references editions (id),
  kind text not null,
  channel text not null,
  email_message_id text references email_messages (id),
  is_active integer not null default 1 check (is_active in (0, 1)),
  created_at integer not null,
  modified_at integer not null,
  unique (edition_id, kind, channel)
) strict, without rowid;
-- Finds what sends a message before the message is deleted.
create index triggers_of_message on triggers (email_message_id) where email_message_id is not null;

-- One row per message that follows from an action: receipts, consent confirmations, refund confirmations, confirmations
-- of sign-ups and test messages, which belong to no customer, and codes to sign in with, which belong to no organisation
-- either.
create table transactional_emails (
  id text primary key,
  organization_id text references organizations (id),
  edition_id text references editions (id),
  order_id text references orders (id),
  user_id text references users (id),
  kind text not null,
  -- 0 for the first receipt of an order. One that is sent again has the next number.
  resend_number integer not null default 0,
  -- The account that asked for the receipt or the test; null for a message that the service sends by itself.
  requested_by text,
  email_message_id text,
  -- The answer that the message asks to confirm, by its id, and by its key with the wording that is shown.
  consent_record_id text,
  confirmation text check (json_valid(confirmation)),
  refund_request_id text references refund_requests (id),
  -- The attempt that the message reports. One that fails late and is repeated is confirmed again.
  refund_attempt integer,
  -- The data of the refund in the message, as they were then.
  refund text check (json_valid(refund)),
  sign_in_code_id text references sign_in_codes (id),
  -- The sign-up that the message asks to confirm. The message may outlive it.
  signup_request_id text,
  -- The customer whose data a test message shows; null for sample values.
  example_user_id text,
  language text not null,
  recipient text not null,
  status text not null,
  attempts integer not null default 0,
  due_at integer,
  claimed_until integer,
  -- The content of the call to the provider, from just before the first call until the end, so that a repeated call
  -- is the same. A test message has it from the start.
  content text check (json_valid(content)),
  provider text,
  first_call_at integer,
  -- True if a call was made whose answer never came.
  is_doubtful integer not null default 0 check (is_doubtful in (0, 1)),
  provider_id text,
  error_code text,
  error_detail text not null default '',
  -- The reason why a pending message waits for the provider, and since when. `due_at` is its next attempt.
  waiting_reason text,
  waiting_since integer,
  sent_at integer,
  created_at integer not null,
  modified_at integer not null,
  check (case kind when 'sign_in_code' then sign_in_code_id is not null
    when 'signup_confirmation' then organization_id is not null and signup_request_id is not null
    when 'test_message' then organization_id is not null and user_id is null and requested_by is not null
    else organization_id is not null and user_id is not null end),
  check (case kind when 'receipt' then order_id is not null and email_message_id is not null and edition_id is not null
    when 'consent_confirmation' then consent_record_id is not null and confirmation is not null
    when 'sign_in_code' then true
    when 'signup_confirmation' then true
    when 'test_message' then email_message_id is not null
    else order_id is null and refund_request_id is not null and refund_attempt is not null and refund is not null end),
  unique (order_id, kind, resend_number)
) strict, without rowid;
-- Finds messages whose next attempt is due.
create index transactional_emails_due on transactional_emails (due_at) where status = 'pending';
-- Finds codes whose next attempt is due, which go before all other messages.
create index transactional_emails_due_codes on transactional_emails (due_at)
  where status = 'pending' and sign_in_code_id is not null;
-- Finds the message that has waited longest.
create index transactional_emails_waiting on transactional_emails (waiting_since)
  where status = 'pending' and waiting_since is not null;
-- Finds the messages of a customer for exports and erasures.
create index transactional_emails_of_user on transactional_emails (user_id);
-- Finds the confirmation that was sent for an answer.
create index transactional_emails_of_consent_record on transactional_emails (consent_record_id, created_at)
  where consent_record_id is not null;
-- Finds the confirmations that an address was asked for.
create index transactional_emails_of_confirmed_address on transactional_emails (organization_id, recipient, created_at)
  where kind in ('consent_confirmation', 'signup_confirmation');
-- Finds the message of a sign-up, which is deleted with it.
create index transactional_emails_of_signup_request on transactional_emails (signup_request_id)
  where signup_request_id is not null;
-- Finds the oldest messages of sign-ups.
create index transactional_emails_of_signups on transactional_emails (created_at) where kind = 'signup_confirmation';
-- Counts the test messages of an organisation in the last hour.
create index transactional_emails_of_tests on transactional_emails (organization_id, created_at)
  where kind = 'test_message';
-- Finds the oldest test messages, which a sweep deletes.
create index transactional_emails_of_old_tests on transactional_emails (created_at) where kind = 'test_message';
-- Finds the test messages that show the data of a customer.
create index transactional_emails_of_example on transactional_emails (example_user_id)
  where example_user_id is not null;
-- A refund attempt is reported once per kind of message.
create unique index transactional_emails_of_refund on transactional_emails (refund_request_id, kind, refund_attempt)
  where refund_request_id is not null;
-- Finds the message with a code, which is deleted with it.
create unique index transactional_emails_of_sign_in_code on transactional_emails (sign_in_code_id)
  where sign_in_code_id is not null;

-- A receipt that waits goes to the customer to whom an import, an undo or a merge gives the order.
create trigger order_given_to_other_customer after update of user_id on orders when new.user_id <> old.user_id begin
  update transactional_emails set user_id = new.user_id
    where order_id = new.id and kind = 'receipt' and status = 'pending';
end;
