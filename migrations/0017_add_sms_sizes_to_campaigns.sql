-- What the texts of an SMS campaign take on the air, as JSON by language: measured when they are saved. Null for texts
-- that were saved before it was kept.
alter table campaigns add column sms_sizes text;
update campaigns set sms_sizes = '{}' where sms_body = '{}';
