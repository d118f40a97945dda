-- How often the background work of an import was begun again since its last step. What never gets further is given up.
alter table data_imports add column stalls integer not null default 0;
-- What lists say of the mappings, kept with each change of them.
alter table data_imports add column column_summary text not null
  default '{"total":0,"mapped":0,"ignored":0,"missing_required":[]}' check (json_valid(column_summary));
alter table data_imports add column product_summary text not null
  default '{"total":0,"mapped":0,"ignored":0,"unmapped":0}' check (json_valid(product_summary));
alter table data_imports add column search text not null default '';

update data_imports set search = lower(name);

create index data_imports_of_file on data_imports (file_id) where file_id is not null;
-- What an organisation has running is counted here.
create index data_imports_running on data_imports (organization_id) where phase is not null;
