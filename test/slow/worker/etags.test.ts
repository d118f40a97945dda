import { beforeAll, describe, expect, it } from 'vitest'
import type { Operation } from '../../../src/http/operations/operation.ts'
import { call, type Reply } from '../../support/api.ts'
import { listChangesSoFar, countChanges } from '../../support/changes.ts'
import { chooseCaller, implemented, lists, make, buildPath, send, writes } from '../../support/operations.ts'
import { buildWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
  await countChanges()
})

const readEtag = (reply: Reply): string => reply.headers.get('etag') ?? ''

const details = implemented.filter(
  (operation) => operation.method === 'get' && operation.response !== null && !lists.includes(operation),
)

/** Writes of one existing resource, which `If-Match` can guard. */
const changes = writes.filter((operation) => operation.path.includes('{') && operation.status !== 201)

/** Finds the operation that reads the path of a write. */
const readerOf = (operation: Operation): Operation | undefined =>
  details.find((reader) => reader.path === operation.path)

/** Actions, resources that are only listed, and resources that can only be deleted have no path to read. */
const withoutReader: readonly string[] = [
  'approveCampaign',
  'approveRefundRequest',
  'cancelCampaign',
  'cancelDataImport',
  'cancelOrder',
  'cancelRefundBatch',
  'cancelRefundRequest',
  'eraseUser',
  'giveConsent',
  'liftSuppression',
  'mergeProducts',
  'mergeUsers',
  'pauseCampaign',
  'processColumnMappings',
  'putFileUploadPart',
  'recalculateSegment',
  'recoverWebhookDeliveries',
  'rejectCampaign',
  'rejectRefundRequest',
  'requestCampaignApproval',
  'resendReceipt',
  'resetSegmentToDraft',
  'resumeCampaign',
  'retryDeadMessage',
  'retryFailedCampaignRecipients',
  'retryRefundRequest',
  'retryWebhookDelivery',
  'revertPurchaseUse',
  'revokeAccessToken',
  'revokeOrganizationToken',
  'rotateWebhookSecret',
  'scheduleCampaign',
  'sendCampaignNow',
  'sendTestCampaign',
  'sendTestMessage',
  'settleRefundRequest',
  'skipConsent',
  'startDataImport',
  'startRefundBatch',
  'undoDataImport',
  'updateColumnMappings',
  'updateProductMappings',
  'verifySenderDomain',
  'voidWalletPass',
  'withdrawConsent',
]

it('only the listed changes have no path on which to read an ETag', () => {
  const withoutPath = changes.filter((operation) => !readerOf(operation)).map(({ id }) => id)
  expect(withoutPath.toSorted()).toEqual(withoutReader.toSorted())
})

describe.each(details)('$id', (operation) => {
  it('has an ETag, with which a client need not fetch again', async () => {
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    const ask = (headers: Record<string, string>) => send(operation, sample, { token: caller.token, headers })
    const first = await ask({})
    expect(readEtag(first)).toMatch(/^"[\w-]+"$/)
    expect(first.headers.get('cache-control')).toMatch(/^private/)
    for (const knownEtag of [readEtag(first), `W/${readEtag(first)}`, `"other", ${readEtag(first)}`, '*']) {
      const reply = await ask({ 'if-none-match': knownEtag })
      expect([knownEtag, reply.status, reply.text, readEtag(reply)]).toEqual([knownEtag, 304, '', readEtag(first)])
    }
    expect((await ask({ 'if-none-match': '"other"' })).status).toBe(200)
  })
})

describe.each(changes)('$id', (operation) => {
  it('succeeds only when If-Match names the current state', async () => {
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    const ask = (ifMatch: string) => send(operation, sample, { token: caller.token, headers: { 'if-match': ifMatch } })
    const before = await listChangesSoFar()
    for (const stale of ['"stale"', 'W/"stale"', '""', 'x', '"a", "b"']) {
      const reply = await ask(stale)
      expect([stale, reply.status, reply.body?.code]).toEqual([stale, 412, 'precondition_failed'])
    }
    expect(await listChangesSoFar()).toEqual(before)
    const reader = readerOf(operation)
    const look = async (by: Operation) => call(buildPath(by, { path: sample.path ?? {} }), { token: caller.token })
    const read = reader && (await look(reader))
    const reply = await ask(read ? `"other", ${readEtag(read)}` : '*')
    expect(reply.status === operation.status || reply.text).toBe(true)
    expect(read === undefined).toBe(withoutReader.includes(operation.id))
    if (!reader || !read) return
    const now = await look(reader)
    expect(readEtag(now)).not.toBe(readEtag(read))
    if (operation.method === 'patch') expect(readEtag(reply)).toBe(readEtag(now))
    expect((await ask(readEtag(read))).status).toBe(operation.method === 'delete' ? 404 : 412)
  })

  it('accepts * for any state', async () => {
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    const reply = await send(operation, sample, { token: caller.token, headers: { 'if-match': '*' } })
    expect(reply.status === operation.status || reply.text).toBe(true)
  })
})

const patches = changes.filter((operation) => operation.method === 'patch' && !withoutReader.includes(operation.id))

describe.each(patches)('$id', (operation) => {
  it('keeps all simultaneous changes of different fields', async () => {
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    const reader = readerOf(operation)
    if (!reader) throw new Error(`nothing reads what ${operation.id} changes`)
    const fields = Object.entries(sample.body ?? {})
    const replies = await Promise.all(
      fields.map(([name, value]) => send(operation, { ...sample, body: { [name]: value } }, { token: caller.token })),
    )
    const now = await call(buildPath(reader, { path: sample.path ?? {} }), { token: caller.token })
    for (const [index, reply] of replies.entries()) {
      const [name = '', value] = fields[index] ?? []
      if (reply.status === 409) {
        expect([reply.body.code, Number(reply.headers.get('retry-after')) > 0]).toEqual(['write_conflict', true])
        continue
      }
      expect([name, reply.status === 200 || reply.text]).toEqual([name, true])
      expect([name, now.body[name]]).toEqual([name, value])
    }
    const successCount = replies.filter(({ status }) => status === 200).length
    expect(successCount).toBeGreaterThanOrEqual(Math.min(2, fields.length))
  })
})

describe('createOrganization, sent several times at once with one name', () => {
  it('gives each organisation a slug of its own', async () => {
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => call('/v1/organizations', { body: { name: 'Ærlig Fest' } })),
    )
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
    const slugs = replies.map(({ body }) => body.slug as string).toSorted()
    expect(slugs).toEqual(['aerlig-fest', 'aerlig-fest-2', 'aerlig-fest-3', 'aerlig-fest-4', 'aerlig-fest-5'])
  })
})
