-- Spans of time of the customers of an organisation (`list_spans`, `users`) lead to pages by their number. Customers are counted
-- some minutes after they came, so that a new one writes nothing more. One who is deleted later leaves their span.
create trigger users_left_spans after delete on users
  when old.created_at < (select until from settled_lists where list = 'users' and scope = old.organization_id)
begin
  update list_spans set total = total - 1, counts = json_set(counts, '$.all', (counts ->> '$.all') - 1)
    where list = 'users' and scope = old.organization_id and span = old.created_at >> 28;
end;
