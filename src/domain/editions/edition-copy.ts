import type { IdKind } from '../ids.ts'

export const emailTemplateModes = ['copy', 'share'] as const
export type EmailTemplateMode = (typeof emailTemplateModes)[number]

/** The tables that are copied with an edition, parents first, with the kind of their ids. */
export const copiedTables = {
  categories: 'category',
  products: 'product',
  variants: 'variant',
  options: 'option',
  locations: 'location',
  email_messages: 'email_message',
  triggers: 'trigger',
  consents: 'consent',
  pass_designs: 'pass_design',
} as const satisfies Record<string, IdKind>

type CopiedTable = keyof typeof copiedTables

/** Tables whose rows are derived from copied rows. */
export const derivedTables: readonly string[] = ['consent_versions', 'product_aliases']

/** Tables of an edition that are not copied, with the reason. A test fails for a table that is in no list. */
export const uncopiedTables: Readonly<Record<string, string>> = {
  members: 'People get their roles edition by edition.',
  files: 'Files are shared: the copy names the same image.',
  orders: 'Sales are not copied.',
  order_counts: 'Sales are not copied.',
  purchases: 'Sales are not copied.',
  purchase_uses: 'Sales are not copied.',
  sales_series: 'Sales are not copied.',
  audit_log: 'Its entries are about the source.',
  edition_customers: 'The copy has no customers yet.',
  email_renditions: 'They are compiled from the copied messages.',
  refund_requests: 'They belong to orders of the source.',
  transactional_emails: 'They were sent for orders of the source.',
  wallet_passes: 'They are passes of purchases of the source.',
  wallet_editions: 'The copy has no passes yet.',
  refund_batches: 'They belong to orders of the source.',
  file_uploads: 'They become files of the source.',
  product_merges: 'The copy has no orders to move.',
  product_images: 'Triggers write them for the copied products.',
  email_message_images: 'Triggers write them for the copied messages.',
  import_product_history: 'It names products of the source.',
  import_products: 'They belong to import files of the source.',
  data_imports: 'They created orders of the source.',
  webhook_deliveries: 'They are deliveries of events of the source.',
  webhook_endpoints: 'No endpoint has subscribed to the events of the copy.',
  webhook_events: 'They happened in the source.',
  consent_records: 'People consented only for the source.',
  signup_forms: 'Sites embed the forms of the source by their ids.',
  signup_requests: 'People signed up with forms of the source.',
  segments: 'They select customers of the source.',
  campaigns: 'They were sent for the source.',
}

/** A row of the source and the row that it belongs to. */
export interface SourceRow {
  id: string
  parent: string | null
}

export type CopySource = Record<CopiedTable, readonly SourceRow[]>

export const emptyCopySource: CopySource = {
  categories: [],
  products: [],
  variants: [],
  options: [],
  locations: [],
  email_messages: [],
  triggers: [],
  consents: [],
  pass_designs: [],
}

export interface CopyPlan {
  rows: Record<CopiedTable, { from: string; to: string; parent: string | null }[]>
  /** Finds the copy's message for a message of the source. */
  findMessage: (id: string | null) => string | null
}

const parentTables: Partial<Record<CopiedTable, CopiedTable>> = {
  products: 'categories',
  variants: 'products',
  options: 'products',
  triggers: 'email_messages',
  pass_designs: 'products',
}

/** Assigns new ids to all rows and translates their references. Shared messages keep their id. */
export function planCopy(source: CopySource, mode: EmailTemplateMode, newId: (kind: IdKind) => string): CopyPlan {
  const names = Object.keys(copiedTables) as CopiedTable[]
  const copies = {} as Record<CopiedTable, Map<string, string>>
  const findCopy = (table: CopiedTable | undefined, id: string | null): string | null => {
    if (table === undefined || id === null) return null
    if (table === 'email_messages' && mode === 'share') return id
    return copies[table].get(id) ?? null
  }
  const rows = {} as CopyPlan['rows']
  for (const name of names) {
    copies[name] = new Map(source[name].map(({ id }) => [id, newId(copiedTables[name])]))
    rows[name] = source[name].map(({ id, parent }) => ({
      from: id,
      to: copies[name].get(id) ?? '',
      parent: findCopy(parentTables[name], parent),
    }))
  }
  return { rows, findMessage: (id) => findCopy('email_messages', id) }
}
