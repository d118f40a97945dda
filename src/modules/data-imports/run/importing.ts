import { type SQL, sql } from 'drizzle-orm'
import { inWords } from '../../../db/conditions.ts'

const bareData = ['-', '.', '(', ')', '/'].reduce(
  (text, mark) => sql`replace(${text}, ${mark}, '')`,
  sql`replace(rows.data, ' ', '')`,
)

/** True while an import or an undo of the organisation has orders of the customer, or rows with one of their addresses. */
export const isImporting = (
  organizationId: string,
  userId: string,
  { emails, digits }: { emails: readonly string[]; digits: readonly string[] },
): SQL => sql`exists (select 1 from data_imports as running indexed by data_imports_running
  where running.organization_id = ${organizationId} and running.phase is not null
    and ${inWords(sql`running.phase`, ['import', 'undo'])}
    and (exists (select 1 from import_orders where import_orders.import_id = running.id and import_orders.user_id = ${userId})
      or exists (select 1 from import_orders where import_orders.import_id = running.id and import_orders.order_id in (
        select id from orders where user_id = ${userId} union select order_id from purchases where user_id = ${userId}))
      or exists (select 1 from import_rows as rows where rows.import_id = running.id and (
        exists (select 1 from json_each(${JSON.stringify(emails)}) as needle where instr(lower(rows.data), needle.value))
        or exists (select 1 from json_each(${JSON.stringify(digits)}) as needle where instr(${bareData}, needle.value))))))`
