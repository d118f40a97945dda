import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { JobCtx } from '../../../src/context.ts'
import { handleUnregistration, handleRegistration } from '../../../src/modules/wallet/apple/phone-requests.ts'
import { receiveGoogleCallback } from '../../../src/modules/wallet/google-callback.ts'
import { createJob } from '../../support/campaigns.ts'
import { givenPass, type Pass } from '../../support/seeding/sales/wallet-passes.ts'
import { buildCallback, givenGoogleKeys, listKinds, loadPass, listRegistrations } from '../../support/wallet.ts'

/** A job that crashes before or after its first transaction is written. */
function createCrashingJob(when: 'before' | 'after'): JobCtx {
  const job = createJob()
  const batch = job.db.batch.bind(job.db)
  job.db.batch = async (statements) => {
    if (when === 'before') throw new Error('the machine died')
    await batch(statements)
    throw new Error('the machine died')
  }
  return job
}

const crash = fc.constantFrom('none' as const, 'none' as const, 'before' as const, 'after' as const)
const devices = ['a', 'b', 'c', 'd']
const step = fc.record({
  device: fc.constantFrom(...devices),
  registers: fc.boolean(),
  crash,
})

const buildRequest = (pass: Pass, device: string) => ({
  passType: 'pass.capture',
  serial: pass.serial,
  authorization: `ApplePass ${pass.token}`,
  device: `${pass.serial}-${device}`,
})

const createJobFor = (when: 'none' | 'before' | 'after') => (when === 'none' ? createJob() : createCrashingJob(when))

function act(pass: Pass, one: { device: string; registers: boolean; crash: 'none' | 'before' | 'after' }) {
  const job = createJobFor(one.crash)
  const request = buildRequest(pass, one.device)
  return one.registers
    ? handleRegistration(job, request, async () => ({ pushToken: 'push' }))
    : handleUnregistration(job, request)
}

it('each first and each last phone is announced exactly once, in any order, with repeats and crashes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const pass = await givenPass()
      const held = new Set<string>()
      const expected: string[] = []
      for (const nextStep of steps) {
        const before = held.size
        const dies = await act(pass, nextStep).then(
          () => false,
          () => true,
        )
        // A repetition commits nothing, so it cannot crash. A crash before the commit leaves no trace.
        const isRepeated = held.has(nextStep.device) === nextStep.registers
        expect(dies).toBe(nextStep.crash !== 'none' && !isRepeated)
        if (nextStep.crash === 'before') continue
        if (nextStep.registers) held.add(nextStep.device)
        else held.delete(nextStep.device)
        if (before === 0 && held.size === 1) expected.push('wallet.vendorA.pass-added')
        if (before === 1 && held.size === 0) expected.push('wallet.vendorA.pass-removed')
      }
      expect(await listKinds(pass.organization)).toEqual(expected)
      expect((await loadPass(pass.id)).registrations_count).toBe(held.size)
      expect((await listRegistrations(pass.id)).length).toBe(held.size)
    }),
    { numRuns: 12 },
  )
})

it('the number of phones stays correct when phones register and unregister at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { minLength: 2, maxLength: 8 }), { maxLength: 4 }), async (rounds) => {
      const pass = await givenPass()
      for (const round of rounds) await Promise.allSettled(round.map((phone) => act(pass, { ...phone, crash: 'none' })))
      const registered = (await listRegistrations(pass.id)).length
      const kinds = await listKinds(pass.organization)
      expect((await loadPass(pass.id)).registrations_count).toBe(registered)
      kinds.forEach((kind, index) =>
        expect(kind).toBe(index % 2 === 0 ? 'wallet.vendorA.pass-added' : 'wallet.vendorA.pass-removed'),
      )
      expect(kinds.length % 2).toBe(registered > 0 ? 1 : 0)
    }),
    { numRuns: 8 },
  )
})

it('the latest callback of Google counts, in any order, with repeats and crashes', async () => {
  const keys = await givenGoogleKeys()
  const callback = fc.record({ at: fc.nat({ max: 8 }), event: fc.constantFrom('save' as const, 'del' as const), crash })
  await fc.assert(
    fc.asyncProperty(fc.array(callback, { maxLength: 12 }), async (steps) => {
      const pass = await givenPass('google')
      const start = Date.now() + 600_000
      let latest = 0
      let isIn = false
      let added = 0
      for (const { at, event, crash: when } of steps) {
        const body = await buildCallback(keys, pass, event, { message: { expTimeMillis: start + at } })
        const text = JSON.stringify(body)
        await receiveGoogleCallback(createJobFor(when), text).catch(() => undefined)
        // Google repeats callbacks that were not answered with 200.
        await receiveGoogleCallback(createJob(), text)
        await receiveGoogleCallback(createJob(), text)
        if (at < latest) continue
        latest = at
        if (event === 'save' && !isIn) added++
        isIn = event === 'save'
      }
      expect(await listKinds(pass.organization)).toEqual(
        Array.from({ length: added }, () => 'wallet.vendorB.pass-added'),
      )
      const row = await loadPass(pass.id)
      expect(row.added_at !== null && row.removed_at === null).toBe(isIn)
    }),
    { numRuns: 10 },
  )
})
