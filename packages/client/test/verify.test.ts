import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import { explainSignature } from '../cli/verify/explain.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const otherSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const body = '{"id":"evn_1","amount":1}'

function signRequest(at = new Date()) {
  const signature = new Webhook(secret).sign('evn_1', at, body)
  return { id: 'evn_1', timestamp: String(Math.floor(at.getTime() / 1000)), signature, body }
}
const now = { isAnyTime: false }

it('accepts a right signature, also as one of two', () => {
  const request = signRequest()
  expect(explainSignature(secret, request, now)).toEqual([])
  const rotated = { ...request, signature: `v1,AAAA ${request.signature}` }
  expect(explainSignature(secret, rotated, now)).toEqual([])
})

it.for([
  [`${body}\n`, 'line break was added'],
  [JSON.stringify(JSON.parse(body), null, 2), 'written again as JSON'],
  [`\uFEFF${body}`, 'byte order mark'],
  ['{"id":"evn_1","amount":2}', 'or the body, webhook-id'],
  ['', 'or the body, webhook-id'],
])('says how the body %j was changed', ([changed = '', reason = '']) => {
  expect(explainSignature(secret, { ...signRequest(), body: changed }, now)).toEqual([expect.stringContaining(reason)])
})

it('says what is wrong with the secret and the signature', () => {
  const request = signRequest()
  expect(explainSignature('abc', request, now)[0]).toContain('whsec_')
  expect(explainSignature(secret.slice(0, -6), request, now)[0]).toContain('not whole')
  expect(explainSignature(otherSecret, request, now)[0]).toContain('secret is another one')
  expect(explainSignature(otherSecret, request, { ...now, sentBody: body })[0]).toContain('signed the delivery')
  expect(explainSignature(secret, { ...request, body: 'x' }, { ...now, sentBody: body })[0]).toContain('was sent')
  expect(explainSignature(secret, { ...request, signature: 'v2,abc' }, now)[0]).toContain('version v1')
})

it('says what is wrong with the time, and nothing when the time does not matter', () => {
  const old = signRequest(new Date(Date.now() - 3_600_000))
  expect(explainSignature(secret, old, now)).toEqual([expect.stringContaining('60 minutes ago')])
  expect(explainSignature(secret, old, { isAnyTime: true })).toEqual([])
  expect(explainSignature(otherSecret, old, now)).toHaveLength(2)
  const early = signRequest(new Date(Date.now() + 3_600_000))
  expect(explainSignature(secret, early, now)).toEqual([expect.stringContaining('in the future')])
  expect(explainSignature(secret, { ...old, timestamp: String(Date.now()) }, now)[0]).toContain('milliseconds')
  expect(explainSignature(secret, { ...old, timestamp: 'noon' }, now)[0]).toContain('not a number')
})
