import type { IdKind } from '../ids.ts'

export const emailTemplateModes = ['copy', 'share'] as const
export type EmailTemplateMode = (typeof emailTemplateModes)[number]

/** The tables that are copied with an edition, parents first, with the ids that their rows get. */
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

/** Tables that are written with the copy, from copied rows. */
export const derivedTables: readonly string[] = ['consent_versions']

/**
 * What belongs to an edition, or to a row of it, and stays behind; with the reason. A test fails for a table that is
 * not listed.
 */
export const uncopiedTables: Readonly<Record<string, string>> = {
  members: 'Roles are given to people, edition by edition.',
  files: 'Files are shared: the copy names the same image.',
  orders: 'Sales are not copied.',
  order_counts: 'Sales are not copied.',
  purchases: 'Sales are not copied.',
  purchase_uses: 'Sales are not copied.',
  audit_log: 'Its entries are about the source.',
  edition_customers: 'The copy has no customers yet.',
  email_renditions: 'They are compiled from the messages, which the copy has.',
  refund_requests: 'They are of orders of the source.',
  transactional_emails: 'They were sent for orders of the source.',
  wallet_passes: 'They are passes of purchases of the source.',
  refund_batches: 'They are of orders of the source.',
  file_uploads: 'They become files of the source.',
  product_images: 'They are kept with the images of the products, which the copy has.',
  email_message_images: 'They are kept with the blocks of the messages, which the copy has.',
  import_products: 'They are of files of orders of the source.',
  data_imports: 'They say where the orders of the source came from.',
  webhook_deliveries: 'They are deliveries of events of the source.',
  webhook_endpoints: 'No endpoint has subscribed to the events of the copy.',
  webhook_events: 'They happened in the source.',
  consent_records: 'People consented to the source alone.',
  segments: 'They speak of those who bought in the source.',
  campaigns: 'They were sent for the source.',
}

/** A row of the source, and the row to which it refers. */
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
  /** The message of the copy that replaces this one of the source. */
  messageOf: (id: string | null) => string | null
}

const parentTables: Partial<Record<CopiedTable, CopiedTable>> = {
  products: 'categories',
  variants: 'products',
  options: 'products',
  triggers: 'email_messages',
  pass_designs: 'products',
}

/** New ids for all rows, with references to the copies. Shared messages stay unchanged. */
export function planCopy(source: CopySource, mode: EmailTemplateMode, newId: (kind: IdKind) => string): CopyPlan {
  const names = Object.keys(copiedTables) as CopiedTable[]
  const copies = {} as Record<CopiedTable, Map<string, string>>
  const copyOf = (table: CopiedTable | undefined, id: string | null): string | null => {
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
      parent: copyOf(parentTables[name], parent),
    }))
  }
  return { rows, messageOf: (id) => copyOf('email_messages', id) }
}
