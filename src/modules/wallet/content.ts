import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { inList } from '../../db/conditions.ts'
import { buildContactColumn } from '../../db/customers.ts'
import { products } from '../../db/schema/catalog.ts'
import { decodeAs, fromJson, buildSelectList } from '../../db/select.ts'
import { formatFullName } from '../../domain/accounts/users.ts'
import { buildFileAddress } from '../../domain/files/addresses.ts'
import type { Language, TranslatedDict } from '../../domain/languages.ts'
import type { PurchaseStatus } from '../../domain/orders/purchases.ts'
import { type EditionContent, type PassContent, readPassDesign } from '../../domain/wallet/wallet-pass.ts'
import { getPassState } from '../../domain/wallet/wallet.ts'
import type { PassRow } from './queries.ts'

interface ContentRow extends Omit<
  PassContent,
  'id' | 'serial_number' | 'state' | 'language' | 'holder_name' | 'code' | 'design'
> {
  purchase_status: PurchaseStatus
  purchase_id: string
  vendor_code: string | null
  name_translations: TranslatedDict
  default_language: Language
  first_name: string
  last_name: string
  design: Readonly<Record<string, unknown>> | null
}

/** A design of the product is used before one of its edition. */
const fields = {
  name_translations: products.name_translations,
  design: fromJson<Readonly<Record<string, unknown>>>(sql`(select design from pass_designs
    where pass_designs.edition_id = purchases.edition_id
      and (pass_designs.product_id is null or pass_designs.product_id = products.id)
    order by pass_designs.product_id is null, pass_designs.id limit 1)`),
}

const user = sql`users`
const edition = sql`purchases.edition_id`

type ContentSource = Pick<PassRow, 'id' | 'serial_number' | 'status' | 'purchase_id'>

const toPassContent = (pass: ContentSource, row: ContentRow): PassContent => ({
  id: pass.id,
  serial_number: pass.serial_number,
  state: getPassState(pass.status, row.purchase_status),
  language: row.default_language,
  organization_name: row.organization_name,
  edition_id: row.edition_id,
  edition_name: row.edition_name,
  start_at: row.start_at,
  end_at: row.end_at,
  timezone: row.timezone,
  product_name: row.name_translations[row.default_language] || row.product_name,
  variant_name: row.variant_name,
  location_name: row.location_name,
  holder_name: formatFullName(row).trim(),
  code: row.vendor_code ?? row.purchase_id,
  design: readPassDesign(row.design ?? {}),
})

/** Loads what passes show now, by their ids. The holder's name is the one that the edition knows. */
export async function loadPassContents(
  job: Pick<JobCtx, 'db'>,
  passes: readonly ContentSource[],
): Promise<Map<string, PassContent>> {
  if (passes.length === 0) return new Map()
  const purchaseIds = passes.map(({ purchase_id }) => purchase_id)
  const statement = sql<ContentRow>`select purchases.status as purchase_status,
      purchases.id as purchase_id, purchases.vendor_code,
      organizations.name as organization_name, editions.id as edition_id, editions.full_name as edition_name,
      editions.start_at, editions.end_at, editions.timezone, editions.default_language,
      products.name as product_name, ${buildSelectList(fields)}, variants.name as variant_name,
      locations.name as location_name,
      ${buildContactColumn(user, 'first_name', edition)} as first_name,
      ${buildContactColumn(user, 'last_name', edition)} as last_name
    from purchases join products on products.id = purchases.product_id
      join users on users.id = purchases.user_id
      join editions on editions.id = purchases.edition_id
      join organizations on organizations.id = editions.organization_id
      left join variants on variants.id = purchases.variant_id
      left join locations on locations.id = purchases.location_id
    where ${inList(sql`purchases.id`, purchaseIds)}`
  const rows = new Map((await job.db.all(decodeAs(fields, statement))).map((row) => [row.purchase_id, row]))
  return new Map(
    passes.flatMap((pass) => {
      const row = rows.get(pass.purchase_id)
      return row ? [[pass.id, toPassContent(pass, row)]] : []
    }),
  )
}

export async function loadPassContent(job: Pick<JobCtx, 'db'>, pass: ContentSource): Promise<PassContent> {
  const content = (await loadPassContents(job, [pass])).get(pass.id)
  if (!content) throw new Error(`The purchase of pass ${pass.id} is missing.`)
  return content
}

interface LogoFile {
  id: string
  access_key: string
}

type EditionContentRow = Omit<EditionContent, 'logo_url'> & { logo: LogoFile | null }

/** The logo of the edition is used before one of its products, because all passes share the class. */
const editionFields = {
  logo: fromJson<LogoFile | null>(sql`(select json_object('id', files.id, 'access_key', files.access_key)
    from pass_designs join files on files.id = pass_designs.logo_image_id
    where pass_designs.edition_id = editions.id
    order by pass_designs.product_id is not null, pass_designs.id limit 1)`),
}

/** Loads what all passes of an edition show now. */
export async function loadEditionContent(
  { db, config }: Pick<JobCtx, 'db' | 'config'>,
  editionId: string,
): Promise<EditionContent> {
  const row = await db.first(
    decodeAs(
      editionFields,
      sql<EditionContentRow>`select editions.id as edition_id, editions.full_name as edition_name,
          organizations.name as organization_name, editions.default_language as language, editions.start_at,
          editions.end_at, editions.timezone, ${buildSelectList(editionFields)}
        from editions join organizations on organizations.id = editions.organization_id
        where editions.id = ${editionId}`,
    ),
  )
  if (!row) throw new Error(`The edition ${editionId} is missing.`)
  const { logo, ...content } = row
  return { ...content, logo_url: logo && buildFileAddress(config.files.url, logo, 'original') }
}
