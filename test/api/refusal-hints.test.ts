import { beforeAll, describe, expect, it } from 'vitest'
import { callWith, patch, post, remove, type Reply } from '../support/api.ts'
import { dump } from '../support/dump.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { buildWorld, type Who, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const token = (who: Who) => world.people[who].token
const denied = (reply: Reply) => {
  expect(describeRefusal(reply)).toBe('403 permission_denied')
  return reply.body.detail.replace('Your role does not allow this operation. ', '')
}

describe('a 403', () => {
  it('suggests to adopt a template of the organisation, to callers who write in one of its editions', async () => {
    const path = `/v1/email-messages/${await seedMessage({ organization: world.a.id, edition: null })}`
    const adopt = 'This is a template of the organisation: adopt it into your edition, then change or delete the copy.'
    const before = await dump()
    for (const who of ['EA', 'EM'] as const) {
      expect(denied(await patch(path, { title: 'Mine' }, token(who)))).toBe(adopt)
      expect(denied(await remove(path, token(who)))).toBe(adopt)
    }
    const ask =
      'It requires the role admin or manager of the organisation or of the edition. Ask an organisation admin.'
    for (const who of ['OV', 'EV'] as const) expect(denied(await patch(path, { title: 'Mine' }, token(who)))).toBe(ask)
    expect(await dump()).toEqual(before)
  })

  it('suggests to adopt a template of the platform, to all callers who write', async () => {
    const path = `/v1/email-messages/${await seedMessage({ organization: null, edition: null })}`
    for (const who of ['OA', 'EM'] as const)
      expect(denied(await patch(path, { title: 'Mine' }, token(who)))).toBe(
        'This is a template of the platform: adopt it into your edition, then change or delete the copy.',
      )
  })

  it('suggests to ask an organisation admin for the missing role, and names it', async () => {
    const [edition] = world.a.editions
    const body = { email: 'new@example.dk', role: 'viewer', edition_id: edition.id }
    const reply = await post(`/v1/organizations/${world.a.id}/members`, body, token('EM'))
    expect(denied(reply)).toMatch(/^It requires the role admin of the organisation.*\. Ask an organisation admin\.$/)
    expect(denied(await post('/v1/organizations', { name: 'Mine' }, token('OA')))).toBe(
      'Only the superuser of the platform can do this.',
    )
  })

  it('suggests a token with the missing scope', async () => {
    const readOnlyToken = await post('/v1/auth/tokens', { name: 'Reader', scopes: ['read'] }, token('OA'))
    expect(readOnlyToken.status).toBe(201)
    const reply = await patch(`/v1/editions/${world.a.editions[0].id}`, { name: 'x' }, readOnlyToken.body.token)
    expect(reply.body).toMatchObject({
      code: 'insufficient_scope',
      detail: 'This token does not have the scope `write`. Use a token that has it.',
    })
  })
})

describe('a refused destination', () => {
  const create = (url: string, bindings: object) =>
    callWith(bindings, '/v1/webhooks', {
      body: { organization_id: world.a.id, name: 'Receiver', url, events: ['purchase.action'] },
      token: token('OA'),
    })

  it.each([
    ['http://hooks.example.com/', '`url` must begin with https:// and not with http://.', true],
    ['https://hooks.example.com:8443/', '`url` must not name a port. Events are sent to port 443.', true],
    ['https://10.0.0.1/', '`url` must contain a host name and not an IP address.', false],
    [
      'https://user:secret@hooks.example.com/',
      '`url` contains a user name or a password. Remove it, because events are sent without credentials.',
      false,
    ],
  ])('gets an answer with the rule that it breaks: %s', async (url, rule, isPermitted) => {
    const variable = ' In development ALLOW_INSECURE_WEBHOOKS=1 permits it.'
    for (const [ENVIRONMENT, detail] of [
      ['production', rule],
      ['development', isPermitted ? rule + variable : rule],
    ]) {
      const { status, body } = await create(url, { ENVIRONMENT, ALLOW_INSECURE_WEBHOOKS: '' })
      expect([status, body.errors]).toEqual([
        400,
        [{ code: 'forbidden_destination', detail, attr: 'url', pointer: '#/url' }],
      ])
      expect(body.errors[0].detail).not.toContain('secret')
    }
  })
})
