import { sql } from 'drizzle-orm'
import { walletPasses } from '../../../../src/db/schema/wallet.ts'
import { insertAll } from '../../../../src/db/write.ts'
import type { WalletPlatform } from '../../../../src/domain/wallet/wallet.ts'
import { create } from '../../api.ts'
import { readToken } from '../../pass-packages.ts'
import { seedPassDesign } from '../catalogue.ts'
import { seedEdition } from '../editions.ts'
import { givenOrganization } from '../organizations.ts'
import { db, freshId, next, type Place, seededAt, write } from '../rows.ts'
import { seedEndpoint } from '../webhooks.ts'
import { type Trade, seedTrade } from './trades.ts'

export type PassRow = typeof walletPasses.$inferSelect

/** Enables the wallet for the product of a purchase, with a design. */
export async function enableWallet(place: Place, purchase: string): Promise<void> {
  const product = sql`(select product_id from purchases where id = ${purchase})`
  const enabledProducts = await db.all(
    sql<{ id: string }>`update products set is_wallet_enabled = 1 where id = ${product} returning id`,
  )
  await seedPassDesign(place, {
    name: 'Night blue',
    product_id: enabledProducts[0]?.id ?? null,
    design: { background_color: '#102040', logo_text: 'Nordlys' },
  })
}

/** Seeds a purchase whose product is for the wallet, in an edition with a design for it. */
async function seedWalletTrade(place: Place): Promise<Trade> {
  const trade = await seedTrade(place)
  await enableWallet(place, trade.purchase)
  return trade
}

/** Seeds a purchase in its own organisation, with an endpoint for all wallet events. */
export async function seedWalletPurchase(): Promise<Trade & Place> {
  const organization = await givenOrganization()
  const edition = await seedEdition(organization, { enabled_languages: ['en', 'da'] })
  const place = { organization: organization.id, edition: edition.id }
  await seedEndpoint(place, {
    events: ['wallet.vendorA.pass-added', 'wallet.vendorA.pass-removed', 'wallet.vendorB.pass-added'],
  })
  return { ...place, ...(await seedWalletTrade(place)) }
}

/** Seeds passes of one purchase, void unless another status is given, for lists. */
export async function seedPasses(
  place: Place,
  purchase: string,
  count: number,
  columns: Partial<PassRow> = {},
): Promise<string[]> {
  const rows = Array.from({ length: count }, () => {
    const at = seededAt + Math.floor(next() / 3) * 1000
    return {
      id: freshId('wallet_pass'),
      organization_id: place.organization,
      edition_id: place.edition,
      purchase_id: purchase,
      platform: 'apple' as const,
      provider: 'vendorA' as const,
      serial_number: freshId('request'),
      status: 'voided' as const,
      change_number: 0,
      changed_at: at,
      voided_at: at,
      created_at: at,
      modified_at: at,
      ...columns,
    }
  })
  await write(...insertAll(walletPasses, rows))
  return rows.map(({ id }) => id)
}

export interface Pass {
  id: string
  serial: string
  token: string
  purchase: string
  organization: string
  edition: string
  user: string
  add_url: string
}

export async function givenPassOf(purchase: Trade & Place, platform: WalletPlatform): Promise<Pass> {
  const path = `/v1/purchases/${purchase.purchase}/wallet-passes`
  const { id, serial_number: serial, add_url } = await create(path, { platform })
  const token = platform === 'apple' ? await readToken(add_url) : ''
  return { ...purchase, id, serial, token, add_url }
}

export const givenPass = async (platform: WalletPlatform = 'apple'): Promise<Pass> =>
  givenPassOf(await seedWalletPurchase(), platform)
