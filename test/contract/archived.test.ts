import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { listChangesSoFar, countChanges } from '../support/changes.ts'
import { chooseCaller, make, send, writes } from '../support/operations.ts'
import type { Sample } from '../support/samples/sample.ts'
import { buildWorld, type World } from '../support/world.ts'

/** Changes that are allowed in an archived edition, with the reason. */
const open: Readonly<Record<string, string>> = {
  cancelCampaign: 'What is under way can always be stopped.',
  pauseCampaign: 'What is under way can always be stopped.',
  updateUser: 'Customers are the organisation’s.',
  withdrawConsent: 'A consent can always be withdrawn.',
  eraseUser: 'Customers are the organisation’s.',
  mergeUsers: 'Customers are the organisation’s.',
  addOrganizationMember: 'Who may look at an edition is no part of it.',
  deleteWebhook: 'What hangs on an archived edition may be taken away.',
  rotateWebhookSecret: 'A secret that leaked does not wait.',
  recalculateSegment: 'It counts people; the segment stays what it is.',
  resetSegmentToDraft: 'A calculation that got stuck is ended.',
  testWebhook: 'It sends an example.',
  recoverWebhookDeliveries: 'It sends what had happened before.',
  retryWebhookDelivery: 'It sends what had happened before.',
  cancelRefundBatch: 'What is under way can always be stopped.',
  settleRefundRequest: 'What was paid by hand is paid.',
}

/** Operations on organisations and accounts, and operations that create editions. */
const ofNoEdition: readonly string[] = [
  'addSuppression',
  'importSuppressions',
  'liftSuppression',
  'createAccessToken',
  'createEdition',
  'createEvent',
  'createFeeRule',
  'createMerchantAccount',
  'createOrganization',
  'createSenderDomain',
  'createSignInLink',
  'deleteFeeRule',
  'deleteMerchantAccount',
  'deleteSenderDomain',
  'duplicateEdition',
  'removeOrganizationMember',
  'retryDeadMessage',
  'revokeAccessToken',
  'revokeOrganizationToken',
  'updateEvent',
  'updateFeeRule',
  'updateMerchantAccount',
  'updateOrganization',
  'updateOrganizationMember',
  'verifySenderDomain',
]

/** These operations list every reason for a refusal, including the archived edition. */
const listing = new Set(['scheduleCampaign', 'sendCampaignNow'])

let world: World
beforeAll(async () => {
  world = await buildWorld()
  await countChanges()
})

const archive = (isArchived: 0 | 1) =>
  env.DB.prepare('update editions set is_archived = ? where organization_id = ?').bind(isArchived, world.a.id).run()

/** Tells whether the sample names the edition, an order of it, or a resource of another edition in its path. */
const isOfEdition = (sample: Sample): boolean =>
  typeof sample.body?.['edition_id'] === 'string' ||
  typeof sample.body?.['order_id'] === 'string' ||
  typeof sample.query?.['edition_id'] === 'string' ||
  (sample.references ?? []).some((reference) => reference.in === 'path' && reference.sibling !== undefined)

const changes = writes.filter(({ scope }) => scope === 'write')

describe.each(changes)('$id', (operation) => {
  const { id } = operation

  it('changes nothing in an archived edition and what it owns', async () => {
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    expect(isOfEdition(sample), id).toBe(!ofNoEdition.includes(id))
    if (ofNoEdition.includes(id)) return
    await archive(1)
    const before = await listChangesSoFar()
    const reply = await send(operation, sample, { token: caller.token })
    const after = await listChangesSoFar()
    await archive(0)
    if (open[id]) return expect([reply.status, reply.text]).toEqual([operation.status, reply.text])
    const errors = listing.has(id)
      ? reply.body?.errors.map((error: { code: string }) => error.code)
      : [reply.body?.code]
    expect([reply.status, errors]).toEqual([409, expect.arrayContaining(['edition_archived'])])
    expect(after).toEqual(before)
  })
})
