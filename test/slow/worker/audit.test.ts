import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { findIdKind } from '../../../src/domain/ids.ts'
import { countEntries, listEntries } from '../../support/audit.ts'
import { recordBatches } from '../../support/bindings.ts'
import { chooseCaller, guarded, make, reads, send, sendWith, sharedSample, writes } from '../../support/operations.ts'
import { buildWorld, type World } from '../../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

/** Reads that write an audit entry because people's data leaves the service. */
const exports = ['exportOrders', 'exportPurchases', 'exportSegmentUsers', 'exportSuppressions', 'exportUser']

const recorded = guarded.filter(({ id, scope }) => scope === 'write' || exports.includes(id))

/** Operations for callers without a role, on things outside any organisation. */
const ofAnybody = ['createAccessToken', 'revokeAccessToken']

describe.each(recorded)('$id', (operation) => {
  const { id } = operation

  it('writes one entry with the operation, the caller and the resource', async () => {
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    const reply = await send(operation, sample, { token: caller.token })
    expect(reply.status === operation.status || reply.text).toBe(true)
    const entries = await listEntries(reply)
    const { path } = sample
    const resource =
      operation.status === 201
        ? reply.body.id
        : (path?.member_id ??
          path?.token_id ??
          path?.delivery_id ??
          path?.domain_id ??
          path?.use_id ??
          path?.pass_id ??
          path?.id ??
          sample.query?.organization_id ??
          sample.query?.edition_id ??
          null)
    expect(entries).toMatchObject([
      {
        action: id,
        actor_id: caller.account,
        token_id: caller.who === 'root' ? null : caller.tokenId,
        resource_type: resource && findIdKind(resource),
        resource_id: resource,
      },
    ])
    const [entry] = entries
    const outsideOrganizations = ['revokeAccessToken', 'retryDeadMessage'].includes(id)
    const organization = id === 'createOrganization' ? reply.body.id : outsideOrganizations ? '' : world.a.id
    expect(entry?.organization_id).toBe(organization)
    expect(entry?.id.startsWith('aud_')).toBe(true)
  })

  it('writes its entry in the transaction of its last change', async () => {
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    const { bindings, batches } = recordBatches()
    const reply = await sendWith(bindings, operation, sample, { token: caller.token })
    expect(reply.status).toBe(operation.status)
    const isEntry = (sql: string) => sql.startsWith('insert into "audit_log"')
    const isChange = (sql: string) => /^\s*(insert|update|delete)/i.test(sql) && !isEntry(sql)
    const changing = batches.filter((statements) => statements.some(isChange))
    expect(batches.flat().filter(isEntry)).toHaveLength(1)
    // A request that only reads changes nothing else.
    if (!exports.includes(id) || id === 'exportSegmentUsers') expect(changing.at(-1)?.filter(isEntry)).toHaveLength(1)
  })

  it('writes no entry when it is refused', async () => {
    const before = await countEntries()
    const reply = await send(operation, await sharedSample(operation, world, world.people.nobody), {
      token: world.people.nobody.token,
    })
    if (reply.status >= 400) expect(await countEntries()).toBe(before)
    else expect(ofAnybody).toContain(id)
  })
})

describe.each(writes)('$id, repeated with its key', (operation) => {
  it('writes no further entry', async () => {
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    const request = { token: caller.token, headers: { 'idempotency-key': crypto.randomUUID() } }
    const first = await send(operation, sample, request)
    expect(await listEntries(first)).toHaveLength(1)
    const before = await countEntries()
    const secondReply = await send(operation, sample, request)
    expect(secondReply.headers.get('idempotency-replayed')).toBe('true')
    expect(await countEntries()).toBe(before)
  })
})

it('a read writes no audit entry', async () => {
  const before = await countEntries()
  for (const operation of reads.filter(({ id }) => !exports.includes(id))) {
    const caller = chooseCaller(operation, world)
    const reply = await send(operation, await sharedSample(operation, world, caller), { token: caller.token })
    expect([operation.id, reply.status]).toEqual([operation.id, operation.status])
  }
  expect(await countEntries()).toBe(before)
})

const listTexts = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : []
}

it('no audit entry contains secrets or contents of messages', async () => {
  const leaks: string[] = []
  for (const operation of writes) {
    const caller = chooseCaller(operation, world)
    const sample = await make(operation, world, caller)
    const body = sample.body
    const reply = await send(operation, sample, { token: caller.token })
    expect([operation.id, reply.status]).toEqual([operation.id, operation.status])
    const contents = ['subject', 'sms_body', 'blocks'].flatMap((name) => [body?.[name], reply.body?.[name]])
    const secrets = ['token', 'secret', 'sign_in_url', 'signature', 'payload'].map((name) => reply.body?.[name])
    // Short texts are types and languages, which reveal nothing.
    leaks.push(...listTexts([...contents, ...secrets]).filter((text) => text.length > 12 && !text.startsWith('blk_')))
  }
  expect(leaks.length).toBeGreaterThan(5)
  const { results } = await env.DB.prepare('select changes from audit_log').all<{ changes: string }>()
  const log = results.map(({ changes }) => changes).join('\n')
  expect(leaks.filter((text) => log.includes(JSON.stringify(text).slice(1, -1)))).toEqual([])
})
