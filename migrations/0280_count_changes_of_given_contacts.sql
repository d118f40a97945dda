-- A search of a role of one edition is found once for each state, too: it depends on what editions were given of a customer.
create trigger edition_customers_found_otherwise
  after update of created_at, email, email_folded, phone_number, phone_digits, name_folded on edition_customers
  when (new.created_at, new.email, new.email_folded, new.phone_number, new.phone_digits, new.name_folded)
    is not (old.created_at, old.email, old.email_folded, old.phone_number, old.phone_digits, old.name_folded)
begin
  insert into list_sizes (organization_id, customer_changes)
    select organization_id, 1 from editions where short_id = new.edition_short_id
    on conflict (organization_id) do update set customer_changes = customer_changes + 1;
end;
