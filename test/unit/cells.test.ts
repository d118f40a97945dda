import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { generateToken } from '../../src/domain/accounts/tokens.ts'
import { linkKinds, mintLinkToken, readLinkToken } from '../../src/domain/campaigns/link-tokens.ts'
import { readCell, readCellOfLink } from '../../src/domain/cells.ts'
import {
  mintConfirmationToken,
  mintPreferencesToken,
  readConfirmationToken,
  readPreferencesToken,
} from '../../src/domain/consents/consent-tokens.ts'
import { openFileToken, signFileToken } from '../../src/domain/files/expiring-tokens.ts'
import { firstIdAt, createIdFactory, type IdKind, idPrefixes, newId } from '../../src/domain/ids.ts'
import { parseRefundKey } from '../../src/domain/refunds/refund-payments.ts'
import { createDownloadToken, isSerialNumber, readDownloadToken } from '../../src/domain/wallet/wallet-tokens.ts'

const kinds = Object.keys(idPrefixes) as IdKind[]
const kind = fc.constantFrom(...kinds)
const character = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789')
const mark = fc.tuple(character, character).map((two) => two.join(''))
/** Empty for a deployment without a mark. */
const cell = fc.oneof(fc.constant(''), mark)
const latest = Date.UTC(2500, 0, 1)
const at = fc.integer({ min: 1, max: latest })
const secret = 'a key'
const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))

describe('the cell mark of an id', () => {
  it('is read back from ids of every kind, and is empty for ids without one', () => {
    fc.assert(
      fc.property(kind, at, cell, (one, time, cellMark) => {
        expect(readCell(newId(one, time, Math.random, cellMark))).toBe(cellMark)
        expect(readCell(createIdFactory(time, Math.random, cellMark)(one))).toBe(cellMark)
      }),
      { numRuns: 1000 },
    )
  })

  it('is empty for ids that were made before marks existed', () => {
    const old = kinds.map((idKind) => `${idPrefixes[idKind]}_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8`)
    // Ids that SQL makes for deliveries, and the first and the last ULID.
    const others = [
      'whd_01KAJ3Z8Q20123456789ABCDEF',
      `ord_${'0'.repeat(26)}`,
      `ord_7${'Z'.repeat(25)}`,
      '6f1d2c3b8a9e4f009d6b0c1a2b3c4d5e',
    ]
    for (const id of [...old, ...others]) expect([id, readCell(id)]).toEqual([id, ''])
  })

  it('is null for texts that only look like ids', () => {
    const id = newId('order', latest, Math.random, 'k7')
    const near = [
      '',
      'orders',
      id.slice(0, -1),
      `${id}0`,
      id.toUpperCase(),
      id.replace('k7', 'K7'),
      id.replace('k7', 'k-'),
      id.replace('ord_', 'xyz_'),
      id.replace('k7', ''.padEnd(2, 'é')),
      `${id}\n`,
      'api.example.com',
      'ecm_',
      'org_bench',
    ]
    for (const text of near) expect([text, readCell(text)]).toEqual([text, null])
  })

  it('keeps the order of ids by time, beside ids with another mark or none', () => {
    fc.assert(
      fc.property(
        kind,
        fc.integer({ min: 1, max: latest - 1000 }),
        fc.integer({ min: 1, max: 1000 }),
        fc.tuple(cell, cell),
        (one, ...rest) => {
          const [time, later, [first, second]] = rest
          const [earlier, other] = [newId(one, time, Math.random, first), newId(one, time + later, Math.random, second)]
          expect(earlier < other).toBe(true)
          expect(firstIdAt(one, time) <= earlier && earlier < firstIdAt(one, time + later)).toBe(true)
          expect(firstIdAt(one, time + later) <= other).toBe(true)
          const next = createIdFactory(time, Math.random, first)
          const ids = Array.from({ length: 5 }, () => next(one))
          expect(ids.toSorted()).toEqual(ids)
        },
      ),
    )
  })

  it('is part of the keys by which providers identify a refund', () => {
    for (const cellMark of ['', 'k7']) {
      const id = newId('refund_request', latest, Math.random, cellMark)
      expect(parseRefundKey(`${id}:12`)).toBe(id)
    }
    expect(parseRefundKey(`${newId('order', latest, Math.random)}:1`)).toBeNull()
  })
})

describe('the cell mark of a token', () => {
  it('is read back, and a changed mark makes a token invalid', () => {
    fc.assert(
      fc.property(cell, mark, (cellMark, other) => {
        const token = generateToken(randomBytes, cellMark)
        expect(token).toMatch(cellMark === '' ? /^ecm_[0-9A-Za-z]{36}$/ : /^ecm_[0-9A-Za-z]{36}[0-9a-z]{2}$/)
        expect(readCell(token)).toBe(cellMark)
        if (other !== cellMark) expect(readCell(token.slice(0, 40) + other)).toBeNull()
        if (cellMark !== '') expect(readCell(token.slice(0, 40))).toBeNull()
      }),
    )
  })

  it('is in the links of messages, which stay valid', async () => {
    const link = fc.record({ kind: fc.constantFrom(...linkKinds), n: fc.nat(), link: fc.constant(0) })
    await fc.assert(
      fc.asyncProperty(link, at, cell, async (rest, time, cellMark) => {
        const target = { ...rest, campaign_id: newId('campaign', time, Math.random, cellMark) }
        const token = mintLinkToken(secret, target)
        expect(readCellOfLink(token)).toBe(cellMark)
        expect(readLinkToken([secret], target.kind, token)).toEqual(target)
      }),
      { numRuns: 50 },
    )
  })

  it('is in links to a person and to an answer, whose ids may have different marks', async () => {
    await fc.assert(
      fc.asyncProperty(cell, cell, at, async (ofUser, ofConsent, time) => {
        const user_id = newId('user', time, Math.random, ofUser)
        const consent_id = newId('consent', time, Math.random, ofConsent)
        const address = { organization_id: newId('organization', time, Math.random), channel: 'email' as const }
        const sentTo = { ...address, address: 'a@example.dk' }
        const page = mintPreferencesToken(secret, { ...sentTo, user_id, made_at: time })
        const answer = mintConfirmationToken(secret, { ...sentTo, user_id, consent_id, number: 300 })
        expect([readCellOfLink(page), readCellOfLink(answer)]).toEqual([ofUser, ofUser])
        expect(readPreferencesToken([secret], page, time)?.user_id).toBe(user_id)
        expect(readConfirmationToken([secret], answer)).toMatchObject({ user_id, consent_id, number: 300 })
      }),
      { numRuns: 50 },
    )
  })

  it('is in signed addresses of files and of passes', async () => {
    const signer = { purpose: 'test', macBytes: 16 }
    for (const cellMark of ['', 'k7', '00', 'zz']) {
      const fileId = newId('file', Date.now(), Math.random, cellMark)
      const token = signFileToken(secret, signer, { fileId, code: 1, endsAt: latest })
      expect(readCellOfLink(token)).toBe(cellMark)
      expect(openFileToken([secret], signer, token, 0)).toEqual({ fileId, code: 1 })
      const serial = `6f1d2c3b8a9e4f009d6b0c1a2b3c4d5e${cellMark}`
      expect([isSerialNumber(serial), readCell(serial)]).toEqual([true, cellMark])
      expect(await readDownloadToken([secret], await createDownloadToken(secret, serial))).toBe(serial)
    }
  })

  it('is null for an invalid link, and for a link whose marked id was cut off', async () => {
    const token = mintLinkToken(secret, {
      kind: 'click',
      campaign_id: newId('campaign', Date.now(), Math.random, 'k7'),
      n: 1,
      link: 1,
    })
    for (const text of ['', 'unsubscribe', token.slice(0, 21), `${token}!`, 'a'.repeat(200)])
      expect([text, readCellOfLink(text)]).toEqual([text, null])
  })
})
