import { beforeAll, describe, expect, it, vi } from 'vitest'
import { exportSpki } from '../../scripts/support/google-callbacks.ts'
import { toBase64 } from '../../src/domain/text/encoding.ts'
import { clearGoogleKeys } from '../../src/gateways/passes/google-keys.ts'
import { receiveGoogleCallback } from '../../src/modules/wallet/google-callback.ts'
import { call, callWith, get } from '../support/api.ts'
import { interruptDatabase } from '../support/bindings.ts'
import { createJob } from '../support/campaigns.ts'
import { dump } from '../support/dump.ts'
import { givenPass, type Pass } from '../support/seeding/sales/wallet-passes.ts'
import {
  callback,
  buildCallback,
  type CallbackOptions,
  givenGoogleKeys,
  type GoogleKeys,
  listKinds,
  loadPass,
  setRootKeys,
} from '../support/wallet.ts'

const added = 'wallet.vendorB.pass-added'

let keys: GoogleKeys
beforeAll(async () => {
  keys = await givenGoogleKeys()
})

const postCallback = async (pass: Pass, event: 'save' | 'del', options?: CallbackOptions) =>
  callback(await buildCallback(keys, pass, event, options))

describe('a callback of Google', () => {
  it('marks the pass as added and announces it; a removal is stored without a webhook', async () => {
    const pass = await givenPass('google')
    expect((await postCallback(pass, 'save')).status).toBe(200)
    expect(await loadPass(pass.id)).toMatchObject({ added_at: expect.any(Number), removed_at: null })
    expect(await listKinds(pass.organization)).toEqual([added])
    expect((await postCallback(pass, 'del')).status).toBe(200)
    expect(await listKinds(pass.organization)).toEqual([added])
    const { body } = await get(`/v1/purchases/${pass.purchase}`)
    expect(body.wallet_passes).toMatchObject([
      { provider: 'vendorB', added_at: expect.any(String), removed_at: expect.any(String) },
    ])
  })

  it('counts each nonce once, and announces once when it comes ten times at once', async () => {
    const pass = await givenPass('google')
    const body = await buildCallback(keys, pass, 'save')
    const replies = await Promise.all(Array.from({ length: 10 }, () => callback(body)))
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    expect(await listKinds(pass.organization)).toEqual([added])
    await postCallback(pass, 'del')
    const before = await loadPass(pass.id)
    expect((await callback(body)).status).toBe(200)
    expect(await loadPass(pass.id)).toEqual(before)
  })

  it('counts once when the same callback arrives at the same time', async () => {
    const pass = await givenPass('google')
    const body = await buildCallback(keys, pass, 'save')
    const twice = interruptDatabase(/insert into "wallet_callbacks"/, () => callback(body))
    const reply = await callWith(twice, '/wallet/google/callback', { method: 'POST', token: null, body })
    expect(reply.status).toBe(200)
    expect(await listKinds(pass.organization)).toEqual([added])
  })

  it('counts when another callback arrives at the same time', async () => {
    const pass = await givenPass('google')
    const [one, other] = await Promise.all([buildCallback(keys, pass, 'save'), buildCallback(keys, pass, 'save')])
    const racedDatabase = interruptDatabase(/insert into "wallet_callbacks"/, () => callback(one))
    const reply = await callWith(racedDatabase, '/wallet/google/callback', { method: 'POST', token: null, body: other })
    expect(reply.status).toBe(200)
    expect(await listKinds(pass.organization)).toEqual([added])
  })

  it('announces once when ten different callbacks report it at once', async () => {
    const pass = await givenPass('google')
    const bodies = await Promise.all(Array.from({ length: 10 }, () => buildCallback(keys, pass, 'save')))
    const replies = await Promise.all(bodies.map(callback))
    expect(replies.map(({ status }) => status)).toEqual(bodies.map(() => 200))
    expect(await listKinds(pass.organization)).toEqual([added])
  })

  it('is ignored when a later one was stored before', async () => {
    const pass = await givenPass('google')
    const later = Date.now() + 300_000
    const save = await buildCallback(keys, pass, 'save', { message: { expTimeMillis: later } })
    const removal = await buildCallback(keys, pass, 'del', { message: { expTimeMillis: String(later + 1000) } })
    await callback(removal)
    await callback(save)
    expect(await listKinds(pass.organization)).toEqual([])
    expect(await loadPass(pass.id)).toMatchObject({ added_at: null, removed_at: expect.any(Number) })
  })

  it('is accepted with the newer name of the sender too', async () => {
    const pass = await givenPass('google')
    expect((await postCallback(pass, 'save', { sender: 'GoogleWalletPasses' })).status).toBe(200)
    expect(await listKinds(pass.organization)).toEqual([added])
  })

  it('takes one query and one transaction', async () => {
    const pass = await givenPass('google')
    const job = createJob()
    await receiveGoogleCallback(job, JSON.stringify(await buildCallback(keys, pass, 'save')))
    // The capture keys take one statement, and the event three: its row, its deliveries, and the search for due
    // endpoints.
    const { queries, round_trips } = job.db.meter
    expect([queries, round_trips]).toEqual([8, 4])
  })
})

describe('a callback with invalid signatures', () => {
  const flipped = (text: string) => {
    const bytes = Uint8Array.fromBase64(text)
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    return toBase64(bytes)
  }

  type Body = Awaited<ReturnType<typeof buildCallback>>
  interface Signed {
    signature: string
    signedMessage: string
    intermediateSigningKey: { signedKey: string; signatures: string[] }
  }
  const changeSigned = (body: Body, change: (signed: Signed) => void): Body => {
    const copy = structuredClone(body)
    change(copy as unknown as Signed)
    return copy
  }

  it('returns 401, and nothing is written', async () => {
    const pass = await givenPass('google')
    const other = await givenPass('google')
    const apple = await givenPass('apple')
    const good = await buildCallback(keys, pass, 'save')
    const past = Date.now() - 1000
    const strangers = { root: keys.intermediate, intermediate: keys.root }
    const forged: Record<string, unknown> = {
      'a message that was changed': changeSigned(good, (signed) => {
        signed.signedMessage = signed.signedMessage.replace('"save"', '"del"')
      }),
      'a signature that was changed': changeSigned(good, (signed) => {
        signed.signature = flipped(signed.signature)
      }),
      'a signature of a key that was changed': changeSigned(good, (signed) => {
        signed.intermediateSigningKey.signatures = signed.intermediateSigningKey.signatures.map(flipped)
      }),
      'a key that was changed': changeSigned(good, (signed) => {
        signed.intermediateSigningKey.signedKey = signed.intermediateSigningKey.signedKey.replace('"}', '0"}')
      }),
      'keys of somebody else': await buildCallback(strangers, pass, 'save'),
      'a message that has expired': await buildCallback(keys, pass, 'save', { message: { expTimeMillis: past } }),
      'a key that has expired': await buildCallback(keys, pass, 'save', { keyExpires: past }),
      'another issuer': await buildCallback(keys, pass, 'save', { issuer: 'elsewhere' }),
      'another sender': await buildCallback(keys, pass, 'save', { sender: 'GooglePayPassesX' }),
      'the class of another edition': await buildCallback(keys, pass, 'save', {
        message: { classId: `capture.${other.edition}` },
      }),
      'an object of another issuer': await buildCallback(keys, pass, 'save', {
        message: { objectId: `elsewhere.${pass.serial}` },
      }),
      'an object that does not exist': await buildCallback(keys, { ...pass, serial: 'f'.repeat(32) }, 'save'),
      'a pass of the other platform': await buildCallback(keys, apple, 'save'),
      'an event that does not exist': await buildCallback(keys, pass, 'save', { message: { eventType: 'steal' } }),
      'no nonce': await buildCallback(keys, pass, 'save', { message: { nonce: '' } }),
      'another protocol': { ...good, protocolVersion: 'ECv1' },
      'no key': { ...good, intermediateSigningKey: null },
      'too many signatures': changeSigned(good, (signed) => {
        signed.intermediateSigningKey.signatures = Array.from({ length: 6 }, () => signed.signature)
      }),
      'a list': [],
      'nothing of it': {},
    }
    const before = await dump()
    for (const [name, body] of Object.entries(forged)) {
      const reply = await callback(body)
      expect([name, reply.status, reply.body?.code]).toEqual([name, 401, 'not_authenticated'])
    }
    expect((await call('/wallet/google/callback', { method: 'POST', token: null, raw: 'no json' })).status).toBe(401)
    const large = { ...good, more: 'x'.repeat(70_000) }
    expect((await callback(large)).status).toBe(413)
    expect(await dump()).toEqual(before)
    expect((await callback(good)).status).toBe(200)
  })

  it('is refused once the root key has expired', async () => {
    const pass = await givenPass('google')
    await setRootKeys([keys.root], Date.now() - 1)
    const reply = await postCallback(pass, 'save')
    await setRootKeys([keys.root], Date.now() + 86_400_000)
    expect(reply.status).toBe(401)
  })
})

/** Returns the target of a call that names it as text. */
const readAddress = (target: unknown): string => (typeof target === 'string' ? target : '')

describe('the root keys of Google', () => {
  it('cannot be set by a request in production', async () => {
    const pass = await givenPass('google')
    const production = { ENVIRONMENT: 'production' }
    const set = await callWith(production, '/dev/wallet/google-keys', {
      method: 'PUT',
      token: null,
      body: { keys: [] },
    })
    expect(set.status).toBe(404)
    expect((await postCallback(pass, 'save')).status).toBe(200)
  })

  it('are fetched from both addresses of Google, cached, and fetched again when no key fits', async () => {
    const pass = await givenPass('google')
    const spki = await exportSpki(keys.root)
    const urls: string[] = []
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async (target) => {
      const url = readAddress(target)
      urls.push(url)
      const rootKey = { keyValue: spki, protocolVersion: 'ECv2SigningOnly', keyExpiration: '2154841200000' }
      return Response.json({ keys: url.includes('//wallet.') ? [rootKey] : [] })
    })
    clearGoogleKeys()
    const live = {
      WALLET_PROVIDER: 'live',
      WALLET_VENDOR_A: '',
      WALLET_VENDOR_B: 'google',
      WALLET_GOOGLE_ISSUER_ID: 'capture',
      WALLET_GOOGLE_SERVICE_ACCOUNT: '{"client_email":"a@example.com","private_key":"x"}',
    }
    const post = async (options: CallbackOptions) =>
      callWith(live, '/wallet/google/callback', {
        method: 'POST',
        token: null,
        body: await buildCallback(keys, pass, 'save', options),
      })
    expect((await post({ sender: 'GoogleWalletPasses' })).status).toBe(200)
    expect(urls).toEqual(['https://pay.google.com/gp/m/issuer/keys', 'https://wallet.google.com/gp/m/issuer/keys'])
    // The other address has no keys under this name, and a second fetch within a minute is refused.
    expect((await post({ sender: 'GooglePayPasses' })).status).toBe(401)
    expect(urls).toHaveLength(2)
    clearGoogleKeys()
    fetched.mockImplementation(async () => new Response('down', { status: 500 }))
    const down = await post({ sender: 'GoogleWalletPasses' })
    expect([down.status, down.headers.get('retry-after')]).toEqual([503, '60'])
    fetched.mockRestore()
    clearGoogleKeys()
  })
})
