import { eq, getTableColumns } from 'drizzle-orm'
import { emailMessages } from '../../src/db/schema/messaging/email-messages.ts'
import { editions, feeRules, merchantAccounts } from '../../src/db/schema/editions.ts'
import { files } from '../../src/db/schema/files/files.ts'
import { select } from '../../src/db/select.ts'
import { insert } from '../../src/db/write.ts'
import type { FilePurpose } from '../../src/domain/files/files.ts'
import type { Reply } from './api.ts'
import { db, type EditionRow } from './factories.ts'
import type { EmailMessageType } from '../../src/domain/messaging/email-messages.ts'

interface Place {
  id: string
}

const unique = () => crypto.randomUUID()

export async function givenFeeRule(organisation: Place, columns: { name?: string; is_active?: number } = {}) {
  const row = {
    id: `fee_${unique()}`,
    organization_id: organisation.id,
    name: 'Standard',
    currency: 'dkk' as const,
    ...columns,
  }
  await db.batch([insert(feeRules, { ...row, description: '3 %' })])
  return row.id
}

export async function givenMerchantAccount(
  organisation: Place,
  columns: Partial<typeof merchantAccounts.$inferInsert> = {},
) {
  const row = {
    id: `mac_${unique()}`,
    organization_id: organisation.id,
    name: 'Main',
    type: 'manual' as const,
    ...columns,
  }
  await db.batch([insert(merchantAccounts, { ...row, supported_currencies: ['dkk', 'eur'] })])
  return row.id
}

export async function givenEmail(
  organisation: Place | null,
  columns: { type?: EmailMessageType; edition_id?: string; title?: string } = {},
) {
  const id = `eml_${unique()}`
  const row = { id, organization_id: organisation?.id ?? null, title: 'Receipt', type: 'receipt' as const, ...columns }
  await db.batch([insert(emailMessages, { ...row, scope: 'template', created_at: 1, modified_at: 1 })])
  return id
}

export async function givenFile(organisation: Place, columns: { purpose?: FilePurpose; edition_id?: string } = {}) {
  const row = {
    id: `fil_${unique()}`,
    organization_id: organisation.id,
    purpose: 'image' as const,
    name: 'a.png',
    ...columns,
  }
  const rest = { mime_type: 'image/png', size: 1, access_key: 'key-of-it', created_at: 1, modified_at: 1 }
  await db.batch([insert(files, { ...row, ...rest })])
  return row.id
}

export const storedEdition = async (id: string): Promise<EditionRow | undefined> =>
  db.first(select(getTableColumns(editions)).from(editions).where(eq(editions.id, id)))

export const codes = (reply: Reply): { status: number; errors: string[] } => ({
  status: reply.status,
  errors: (reply.body.errors as { pointer: string; code: string }[]).map((error) => `${error.pointer} ${error.code}`),
})

export const refused = (...errors: string[]) => ({ status: 400, errors })

export const ids = (reply: Reply): string[] => reply.body.results.map((item: { id: string }) => item.id)
