import { env } from 'cloudflare:workers'
import { afterEach, expect, it, vi } from 'vitest'
import { openJob } from '../../src/entry/job.ts'
import { account } from '../support/stripe.ts'

afterEach(() => void vi.restoreAllMocks())

/** Each call that a gateway has. `held`: it sends, posts or pays. `goes on`: it reads, or answers whoever waits for it. */
const decisions: Record<string, 'held' | 'goes on'> = {
  'email.send': 'held',
  'email.domains.check': 'goes on',
  'sms.send': 'held',
  'webhookPost.post': 'held',
  'alertPost.post': 'goes on',
  'payment.refund': 'held',
  'payment.lookUp': 'goes on',
  'payment.findRefund': 'goes on',
  'payment.listReferences': 'goes on',
  'payment.describeReadPermission': 'goes on',
  'payment.buildUnknownReference': 'goes on',
  'payment.readWebhook': 'goes on',
  'passes.updateGoogle': 'held',
  'passes.updateGoogleClass': 'held',
  'passes.pushApple': 'held',
  'passes.createAddUrl': 'goes on',
  'passes.storeGoogle': 'goes on',
  'passes.buildApplePackage': 'goes on',
  'passes.loadCallbackSenders': 'goes on',
  'dns.lookUpTxt': 'goes on',
  'scanner.scan': 'goes on',
}

/** Gateways to the storage and the image service of this installation. */
const ownGateways = ['files', 'images']

/** No gateway, although it is in the context of a job. */
const otherParts = ['db', 'config', 'jobQueue', 'senders', 'webhookSenders', 'payments']

const openProductionJob = () =>
  openJob({
    ...env,
    OUTGOING: 'hold',
    EMAIL_PROVIDER: 'resend',
    EMAIL_API_KEY: 'key',
    SMS_PROVIDER: 'gatewayapi',
    SMS_API_KEY: 'key',
    DNS_PROVIDER: 'https',
    FILE_SCAN_URL: 'https://scanner.example.com/scan',
  })

type Call = (...parts: unknown[]) => Promise<unknown>

/** Lists the calls of an object and of the objects in it. */
function listCalls(gateway: object, path: string): [string, Call][] {
  const prototype: unknown = Object.getPrototypeOf(gateway)
  const names = [gateway, prototype === Object.prototype ? {} : prototype].flatMap((one) =>
    Object.getOwnPropertyNames(one).filter((name) => name !== 'constructor'),
  )
  return names.flatMap((name) => {
    const value: unknown = (gateway as Record<string, unknown>)[name]
    if (typeof value === 'function') return [[`${path}.${name}`, value.bind(gateway) as Call]]
    return typeof value === 'object' && value !== null ? listCalls(value, `${path}.${name}`) : []
  })
}

function listJobCalls(): [string, Call][] {
  const job = openProductionJob()
  const gateways = { ...job, payment: job.payments.get({ ...account, service: 'stripe' }) }
  return Object.entries(gateways).flatMap(([name, gateway]) =>
    typeof gateway === 'object' && gateway !== null && ![...ownGateways, ...otherParts].includes(name)
      ? listCalls(gateway, name)
      : [],
  )
}

it('each call of a gateway is either held or goes on', () => {
  expect(
    listJobCalls()
      .map(([name]) => name)
      .toSorted(),
  ).toEqual(Object.keys(decisions).toSorted())
})

it('a held call fails before anything leaves the service', async () => {
  const fetched = vi.spyOn(globalThis, 'fetch')
  for (const [name, call] of listJobCalls()) {
    if (decisions[name] !== 'held') continue
    await expect(call([], ''), name).rejects.toThrow('Sending is held (OUTGOING=hold).')
  }
  expect(fetched).not.toHaveBeenCalled()
})
