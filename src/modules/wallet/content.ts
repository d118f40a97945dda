import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { products } from '../../db/schema/sales/catalog.ts'
import { decodeAs, fromJson, buildSelectList } from '../../db/select.ts'
import { buildContactColumn } from '../../db/customers.ts'
import type { Language, TranslatedDict } from '../../domain/languages.ts'
import type { PurchaseStatus } from '../../domain/orders/purchases.ts'
import { formatFullName } from '../../domain/accounts/users.ts'
import { getPassState } from '../../domain/wallet/wallet.ts'
import { type PassContent, readPassDesign } from '../../domain/wallet/wallet-pass.ts'
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

/** Loads what a pass shows now. The holder's name is the one that the edition knows. */
export async function loadPassContent(
  job: Pick<JobCtx, 'db'>,
  pass: Pick<PassRow, 'id' | 'serial_number' | 'status' | 'purchase_id'>,
): Promise<PassContent> {
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
    where purchases.id = ${pass.purchase_id}`
  const row = await job.db.first(decodeAs(fields, statement))
  if (!row) throw new Error(`The purchase of pass ${pass.id} is missing.`)
  return {
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
  }
}
