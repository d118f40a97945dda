-- The orders of an organisation are read through the indexes of its editions.
drop index orders_organization_created;
drop index orders_organization_modified;
drop index orders_organization_number;
drop index orders_organization_status;
drop index orders_organization_type;
drop index orders_organization_amount;
