-- A filter of the audit log read each combination of actor, action and kind of resource in each span. Now `counts` has the sum
-- for each filter by some of them too, named with commas: {"usr_1 updateOrder order": 12, "usr_1,*,*": 12, "*,*,*": 12}. Sweeps
-- keep sums and combinations together. The version before, which runs until the deployment, keeps the combinations alone: of a
-- span where the sum of everything is not `total`, the combinations are read until a night counts it anew.
update list_spans set counts = json_patch(counts, (
  select json_group_object(name, n) from (
    select iif(shown.value & 1, substr(facets, 1, first - 1), '*') || ','
        || iif(shown.value & 2, substr(facets, first + 1, second - 1), '*') || ','
        || iif(shown.value & 4, substr(facets, first + second + 1), '*') as name, sum(n) as n
    from (
      select key as facets, value as n, instr(key, ' ') as first, instr(substr(key, instr(key, ' ') + 1), ' ') as second
      from json_each(list_spans.counts))
    cross join json_each('[0,1,2,3,4,5,6]') as shown
    group by 1)))
where list = 'audit_log' and counts <> '{}';
