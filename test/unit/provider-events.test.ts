import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { toHex, utf8 } from '../../src/domain/text/encoding.ts'
import { readProviderEvents, isEventProvider } from '../../src/gateways/provider-events/provider-events.ts'

const now = Date.parse('2026-11-22T23:41:30Z')
const secrets = {
  email: { webhookSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  sms: { webhookSecret: 'a long key' },
}

/** Signs as Svix does, with the standard library of the scheme. */
function fromResend(event: unknown, options: { id?: string; at?: number; secret?: string } = {}) {
  const { id = 'msg_1', at = now, secret = secrets.email.webhookSecret } = options
  const body = typeof event === 'string' ? event : JSON.stringify(event)
  const headers = new Headers({
    'svix-id': id,
    'svix-timestamp': String(Math.floor(at / 1000)),
    'svix-signature': `v1,Zm9v ${new Webhook(secret).sign(id, new Date(at), body)}`,
  })
  return readProviderEvents(secrets, 'resend', { headers, body }, now)
}

const mail = {
  broadcast_id: null,
  created_at: '2026-11-22T23:41:11.894719+00:00',
  email_id: '56761188-7520-42d8-8898-ff6fc54ce618',
  from: 'Nordlys <tickets@nordlys.example>',
  to: ['guest@example.com'],
  subject: 'Your tickets',
  tags: { reference: 'cmp_1-usr_1' },
}
const resendEvent = (type: string, more: object = {}) => ({
  type,
  created_at: '2026-11-22T23:41:12.126Z',
  data: { ...mail, ...more },
})

describe('an event of Resend', () => {
  it.each([
    ['email.sent', 'accepted'],
    ['email.delivered', 'delivered'],
    ['email.delivery_delayed', 'deferred'],
    ['email.complained', 'complained'],
    ['email.opened', 'opened'],
    ['email.failed', 'failed'],
    ['email.suppressed', 'failed'],
  ])('is read: %s is %s', async (theirs, type) => {
    expect(await fromResend(resendEvent(theirs))).toEqual([
      {
        id: 'msg_1',
        type,
        reference: 'cmp_1-usr_1',
        providerId: mail.email_id,
        address: 'guest@example.com',
        at: Date.parse('2026-11-22T23:41:12.126Z'),
        bounce: null,
        url: null,
        detail: '',
      },
    ])
  })

  it('has the link and the time of a click', async () => {
    const click = {
      ipAddress: '192.0.2.1',
      link: 'https://nordlys.example/tickets',
      timestamp: '2026-11-22T23:41:05.000Z',
      userAgent: 'Mozilla/5.0',
    }
    expect(await fromResend(resendEvent('email.clicked', { click }))).toMatchObject([
      { type: 'clicked', url: click.link, at: Date.parse(click.timestamp) },
    ])
  })

  it.each([
    [{ type: 'Permanent', subType: 'General', message: 'The recipient does not exist.' }, 'hard'],
    [{ type: 'Permanent', subType: 'Suppressed', message: 'On the suppression list.' }, 'hard'],
    [{ type: 'Transient', subType: 'MailboxFull', message: 'Mailbox full.' }, 'soft'],
    [{ type: 'Transient', subType: 'General', message: '421 try again later' }, 'soft'],
    [{ type: 'Undetermined', subType: 'Undetermined', message: '' }, 'soft'],
    [{ type: 'Transient', subType: 'MessageTooLarge', message: 'Too large.' }, 'block'],
    [{ type: 'Transient', subType: 'ContentRejected', message: 'Rejected.' }, 'block'],
    [{ type: 'Permanent', subType: 'General', message: '550 5.7.1 blocked by policy' }, 'block'],
  ])('is a hard or soft bounce: %o is %s', async (bounce, expected) => {
    expect(await fromResend(resendEvent('email.bounced', { bounce }))).toMatchObject([
      { type: 'bounced', bounce: expected, detail: bounce.message || bounce.subType },
    ])
  })

  it('may have tags and times in the forms of older versions', async () => {
    const tags = [{ name: 'reference', value: 'ref_2' }]
    const older = { ...resendEvent('email.sent', { tags }), created_at: '2026-11-22 23:41:12.126+00' }
    expect(await fromResend(older)).toMatchObject([{ reference: 'ref_2', at: Date.parse('2026-11-22T23:41:12.126Z') }])
    expect(await fromResend(resendEvent('email.sent', { tags: null }))).toMatchObject([{ reference: null }])
  })

  it('is ignored when it is of another kind or malformed', async () => {
    for (const event of [
      resendEvent('domain.updated'),
      resendEvent('email.invented'),
      { type: 'email.sent' },
      '[]',
      'no json',
      {},
    ])
      expect(await fromResend(event)).toEqual([])
  })

  it('needs a valid, recent signature', async () => {
    const other = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
    expect(await fromResend(resendEvent('email.sent'), { secret: other })).toBeNull()
    for (const at of [now - 301_000, now + 301_000])
      expect(await fromResend(resendEvent('email.sent'), { at })).toBeNull()
    for (const at of [now - 290_000, now + 290_000])
      expect(await fromResend(resendEvent('email.sent'), { at })).toHaveLength(1)
    const body = JSON.stringify(resendEvent('email.sent'))
    const signature = new Webhook(secrets.email.webhookSecret).sign('msg_1', new Date(now), body)
    const headers = {
      'svix-id': 'msg_1',
      'svix-timestamp': String(Math.floor(now / 1000)),
      'svix-signature': signature,
    }
    const readSigned = (change: Record<string, string>, sentBody = body) =>
      readProviderEvents(secrets, 'resend', { headers: new Headers({ ...headers, ...change }), body: sentBody }, now)
    expect(await readSigned({})).toHaveLength(1)
    expect(await readSigned({}, body.replace('guest', 'ghost'))).toBeNull()
    expect(await readSigned({ 'svix-id': 'msg_2' })).toBeNull()
    expect(await readSigned({ 'svix-signature': '' })).toBeNull()
    expect(await readSigned({ 'svix-signature': 'v1,!!!' })).toBeNull()
    expect(await readSigned({ 'svix-signature': signature.replace('v1,', 'v1a,') })).toBeNull()
    expect(await readSigned({ 'svix-timestamp': 'soon' })).toBeNull()
    const noSecrets = { ...secrets, email: { webhookSecret: '' } }
    expect(await readProviderEvents(noSecrets, 'resend', { headers: new Headers(headers), body }, now)).toBeNull()
  })
})

async function fromGatewayApi(event: unknown, options: { secret?: string; header?: string } = {}) {
  const body = typeof event === 'string' ? event : JSON.stringify(event)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', utf8(options.secret ?? 'a long key'), algorithm, false, ['sign'])
  const mac = toHex(await crypto.subtle.sign('HMAC', key, utf8(body)))
  const headers = new Headers({ signature: options.header ?? `v1=${mac}` })
  return readProviderEvents(secrets, 'gatewayapi', { headers, body }, now)
}

const status = (value: string, more: object = {}, type = 'message.status.sms') => ({
  event_id: '09c829a2-a77b-422d-8562-2f88e784dfb5',
  timestamp: '2026-11-22T23:41:12.003029+00:00',
  event_type: type,
  event: { msg_id: '01JNN696A9E0WS89FPYGT15NBX', recipient: 4512345678, reference: 'ref_1', status: value, ...more },
})

describe('an event of GatewayAPI', () => {
  it.each([
    ['delivered', 'delivered'],
    ['DELIVERED', 'delivered'],
    ['accepted', 'accepted'],
    ['enroute', 'accepted'],
    ['buffered', 'deferred'],
    ['skipped', 'failed'],
    ['deleted', 'failed'],
  ])('is read: %s is %s', async (theirs, type) => {
    expect(await fromGatewayApi(status(theirs))).toEqual([
      {
        id: '09c829a2-a77b-422d-8562-2f88e784dfb5',
        type,
        reference: 'ref_1',
        providerId: '01JNN696A9E0WS89FPYGT15NBX',
        address: '+4512345678',
        at: Date.parse('2026-11-22T23:41:12.003Z'),
        bounce: null,
        url: null,
        detail: '',
      },
    ])
  })

  it.each([
    ['undeliverable', 'Unknown subscriber', 'hard'],
    ['undeliverable', 'Absent subscriber', 'soft'],
    ['undeliverable', '', 'soft'],
    ['expired', '', 'soft'],
    ['rejected', '', 'block'],
    ['undeliverable', 'Blocked by spam filter', 'block'],
  ])('is a hard or soft bounce: %s, %j is %s', async (theirs, error, bounce) => {
    expect(await fromGatewayApi(status(theirs, { error }))).toMatchObject([{ type: 'bounced', bounce, detail: error }])
  })

  it('is accepted in two spellings', async () => {
    expect(await fromGatewayApi(status('delivered', {}, 'messaging.status.sms'))).toHaveLength(1)
  })

  it('is identified by its content when it has no id', async () => {
    const nameless = (value: string) => fromGatewayApi({ ...status(value), event_id: undefined })
    const [one, same, other] = [await nameless('delivered'), await nameless('delivered'), await nameless('expired')]
    expect(one?.[0]?.id).toMatch(/^[0-9a-f]{64}$/)
    expect(same?.[0]?.id).toBe(one?.[0]?.id)
    expect(other?.[0]?.id).not.toBe(one?.[0]?.id)
  })

  it('is ignored when it is of another kind or malformed', async () => {
    for (const event of [status('delivered', {}, 'message.status.rcs'), status('invented'), {}, 'no json', '[]'])
      expect(await fromGatewayApi(event)).toEqual([])
  })

  it('needs a valid signature', async () => {
    expect(await fromGatewayApi(status('delivered'), { secret: 'another key' })).toBeNull()
    for (const header of ['', 'v1=', `v1=${'0'.repeat(64)}`, `v2=${'0'.repeat(64)}`, 'v1=xyz'])
      expect(await fromGatewayApi(status('delivered'), { header })).toBeNull()
  })
})

describe('an event that is called like an object property', () => {
  it.each(['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty'])('is ignored: %s', async (name) => {
    expect(await fromResend(resendEvent(name))).toEqual([])
    expect(await fromGatewayApi(status(name))).toEqual([])
  })
})

describe('the senders of events', () => {
  it('are Resend and GatewayAPI', () => {
    expect(['resend', 'gatewayapi', 'capture', 'toString', '__proto__'].filter(isEventProvider)).toEqual([
      'resend',
      'gatewayapi',
    ])
  })
})
