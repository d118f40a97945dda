import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { consents } from '../../../db/schema/consents.ts'
import { emailMessages } from '../../../db/schema/messaging/email-messages.ts'
import { categories, locations, options, passDesigns, products, variants } from '../../../db/schema/sales/catalog.ts'
import { triggers } from '../../../db/schema/editions.ts'
import type { CopySource, EmailTemplateMode, SourceRow } from '../../../domain/editions/edition-copy.ts'
import type { EditionRow } from '../queries.ts'

type TableWith<Name extends string> = SQLiteTable & Record<Name, SQLiteColumn>

const noParent = sql`null`

const ofEdition = (
  table: TableWith<'id' | 'edition_id'>,
  parent: SQLiteColumn | SQL,
  editionId: string,
): SQL<SourceRow> =>
  sql<SourceRow>`select ${table.id} as id, ${parent} as parent from ${table}
    where ${table.edition_id} = ${editionId} order by ${table.id}`

const ofProducts = (table: TableWith<'id' | 'product_id'>, editionId: string): SQL<SourceRow> =>
  sql<SourceRow>`select ${table.id} as id, ${table.product_id} as parent from ${products}
    join ${table} on ${table.product_id} = ${products.id}
    where ${products.edition_id} = ${editionId} order by ${table.id}`

/** The messages that the edition sends by itself, of any tenant. */
const messagesOf = (edition: EditionRow, mode: EmailTemplateMode): SQL<SourceRow> =>
  sql<SourceRow>`select ${emailMessages.id} as id, null as parent from ${emailMessages}
    where ${mode} = 'copy' and ${emailMessages.id} in (
      select ${triggers.email_message_id} from ${triggers}
        where ${triggers.edition_id} = ${edition.id} and ${triggers.email_message_id} is not null
      union select ${edition.transaction_receipt_email_id} union select ${edition.refund_confirmation_email_id}
    ) order by ${emailMessages.id}`

/** Reads the rows that the edition owns, with one statement for each table. */
export const copySource = (
  edition: EditionRow,
  mode: EmailTemplateMode,
): { [Table in keyof CopySource]: SQL<SourceRow> } => ({
  categories: ofEdition(categories, noParent, edition.id),
  products: ofEdition(products, products.category_id, edition.id),
  variants: ofProducts(variants, edition.id),
  options: ofProducts(options, edition.id),
  locations: ofEdition(locations, noParent, edition.id),
  email_messages: messagesOf(edition, mode),
  triggers: ofEdition(triggers, triggers.email_message_id, edition.id),
  consents: ofEdition(consents, noParent, edition.id),
  pass_designs: ofEdition(passDesigns, passDesigns.product_id, edition.id),
})
