import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { categories, locations, options, products, variants } from '../../../db/schema/catalog.ts'
import { consents } from '../../../db/schema/consents.ts'
import { emailMessages } from '../../../db/schema/email-messages.ts'
import { triggers } from '../../../db/schema/transactional-emails.ts'
import { passDesigns } from '../../../db/schema/wallet.ts'
import type { CopySource, EmailTemplateMode, SourceRow } from '../../../domain/editions/edition-copy.ts'
import type { EditionRow } from '../queries.ts'

type TableWith<Name extends string> = SQLiteTable & Record<Name, SQLiteColumn>

const noParent = sql`null`

const selectOfEdition = (
  table: TableWith<'id' | 'edition_id'>,
  parent: SQLiteColumn | SQL,
  editionId: string,
): SQL<SourceRow> =>
  sql<SourceRow>`select ${table.id} as id, ${parent} as parent from ${table}
    where ${table.edition_id} = ${editionId} order by ${table.id}`

const selectOfProducts = (table: TableWith<'id' | 'product_id'>, editionId: string): SQL<SourceRow> =>
  sql<SourceRow>`select ${table.id} as id, ${table.product_id} as parent from ${products}
    join ${table} on ${table.product_id} = ${products.id}
    where ${products.edition_id} = ${editionId} and ${products.merged_into_id} is null order by ${table.id}`

/** A product that was merged into another one stays in its edition. */
const selectProducts = (editionId: string): SQL<SourceRow> =>
  sql<SourceRow>`select ${products.id} as id, ${products.category_id} as parent from ${products}
    where ${products.edition_id} = ${editionId} and ${products.merged_into_id} is null order by ${products.id}`

/** The messages that the edition sends automatically. They may belong to any tenant. */
const selectMessages = (edition: EditionRow, mode: EmailTemplateMode): SQL<SourceRow> =>
  sql<SourceRow>`select ${emailMessages.id} as id, null as parent from ${emailMessages}
    where ${mode} = 'copy' and ${emailMessages.id} in (
      select ${triggers.email_message_id} from ${triggers}
        where ${triggers.edition_id} = ${edition.id} and ${triggers.email_message_id} is not null
      union select ${edition.transaction_receipt_email_id} union select ${edition.refund_confirmation_email_id}
    ) order by ${emailMessages.id}`

/** The statements that read the rows of the edition, one for each table. */
export const selectCopySource = (
  edition: EditionRow,
  mode: EmailTemplateMode,
): { [Table in keyof CopySource]: SQL<SourceRow> } => ({
  categories: selectOfEdition(categories, noParent, edition.id),
  products: selectProducts(edition.id),
  variants: selectOfProducts(variants, edition.id),
  options: selectOfProducts(options, edition.id),
  locations: selectOfEdition(locations, noParent, edition.id),
  email_messages: selectMessages(edition, mode),
  triggers: selectOfEdition(triggers, triggers.email_message_id, edition.id),
  consents: selectOfEdition(consents, noParent, edition.id),
  pass_designs: selectOfEdition(passDesigns, passDesigns.product_id, edition.id),
})
