-- A filter by an action or a kind of resource that few entries have read all entries. An index now has the entries of each
-- kind and action in their order, and that of actors has them so too: a list merges the kinds and actions that it asks for.
create index audit_log_of_action on audit_log (organization_id, coalesce(resource_type, '-') || ' ' || action, id);

-- The version before names this index.
drop index audit_log_of_actor;
create index audit_log_of_actor on audit_log (organization_id, actor_id, coalesce(resource_type, '-') || ' ' || action, id);
