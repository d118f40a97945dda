import { type SQL, sql } from 'drizzle-orm'
import type { CopySource, EmailTemplateMode, SourceRow } from '../../../domain/editions/edition-copy.ts'
import type { EditionRow } from '../queries.ts'

const ofEdition = (table: string, parent: string, editionId: string): SQL<SourceRow> =>
  sql<SourceRow>`select id, ${sql.raw(parent)} as parent from ${sql.raw(table)} where edition_id = ${editionId} order by id`

const ofProducts = (table: string, editionId: string): SQL<SourceRow> =>
  sql<SourceRow>`select child.id, child.product_id as parent from products
    join ${sql.raw(table)} as child on child.product_id = products.id
    where products.edition_id = ${editionId} order by child.id`

/** The messages that the edition sends by itself, of any tenant. */
const messagesOf = (edition: EditionRow, mode: EmailTemplateMode): SQL<SourceRow> =>
  sql<SourceRow>`select id, null as parent from email_messages where ${mode} = 'copy' and id in (
      select email_message_id from triggers where edition_id = ${edition.id} and email_message_id is not null
      union select ${edition.transaction_receipt_email_id} union select ${edition.refund_confirmation_email_id}
    ) order by id`

/** What the edition owns, as one statement a table. */
export const copySource = (
  edition: EditionRow,
  mode: EmailTemplateMode,
): { [Table in keyof CopySource]: SQL<SourceRow> } => ({
  categories: ofEdition('categories', 'null', edition.id),
  products: ofEdition('products', 'category_id', edition.id),
  variants: ofProducts('variants', edition.id),
  options: ofProducts('options', edition.id),
  locations: ofEdition('locations', 'null', edition.id),
  email_messages: messagesOf(edition, mode),
  triggers: ofEdition('triggers', 'email_message_id', edition.id),
  consents: ofEdition('consents', 'null', edition.id),
  pass_designs: ofEdition('pass_designs', 'product_id', edition.id),
})
