-- How often the background work of an import was begun again since its last step. What never gets further is given up.
alter table data_imports add column stalls integer not null default 0;
