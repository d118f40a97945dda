import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { languages, toBcp47 } from '../../src/domain/languages.ts'
import { dayMs, hourMs } from '../../src/domain/time/instants.ts'
import { type SignupFault, signupWords } from '../../src/modules/signup-forms/public/words.ts'
import { get, patch, remove } from '../support/api.ts'
import { listEvents } from '../support/consent-pages.ts'
import { later } from '../support/later.ts'
import { seedPeople, seedSibling } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { createUser, importUsers } from '../support/seeding/imported-users.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { givenForm, site } from '../support/seeding/messaging/signup-forms.ts'
import { db, write } from '../support/seeding/rows.ts'
import { importOrders } from '../support/seeding/sales/orders.ts'
import { seedBuyer, type Buyer } from '../support/seeding/sales/trades.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'
import { deliverTo } from '../support/sign-in.ts'
import {
  confirm,
  findCustomer,
  freshAddress,
  listAnswers,
  listEditionCustomers,
  listRequests,
  pageSite,
  requestLink,
  type SignupFields,
  signUp,
  signUpByScript,
} from '../support/signups.ts'
import { undoToEnd } from '../support/undone-imports.ts'
import { visit } from '../support/visits.ts'

let shop: Buyer
beforeAll(async () => {
  shop = await seedBuyer()
})

const hostile = '"><script>alert(1)</script>{{ 7 | times: 7 }}'

describe('the public page', () => {
  it.each(languages)('shows the form without scripts, in %s', async (language) => {
    const { form, consent, path } = await givenForm(shop, {
      languages: [language],
      title: { [language]: `Title ${language}` },
    })
    const { status, text, headers } = await visit(path)
    expect(status).toBe(200)
    expect(text).toContain(`<html lang="${toBcp47(language)}">`)
    expect(text).toContain(`Title ${language}`)
    expect(text).toContain(`value="${consent.id}"`)
    expect(text).toContain(language === 'da' ? 'Skriv til mig.' : 'Write to me.')
    expect(text).not.toContain('<script')
    expect(headers.get('cache-control')).toBe('no-store')
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain(`frame-ancestors ${site}`)
    expect(policy).toContain("form-action 'self';")
    expect(form.languages).toEqual([language])
  })

  describe('of a form in three languages', () => {
    let path: string
    beforeAll(async () => {
      path = (await givenForm(shop, { languages: ['da', 'nl', 'en'] })).path
    })

    it.each([
      ['that was requested', 'nl', 'en', 'nl'],
      ['that the browser prefers', 'pl', 'sv, en-GB;q=0.9, nl;q=0.8', 'en'],
      ['that comes first in the form', 'pl', 'sv', 'da'],
    ])('has the language %s', async (_, requested, accepted, language) => {
      const { text } = await visit(`${path}?language=${requested}`, { headers: { 'accept-language': accepted } })
      expect(/<html lang="(\w+)"/.exec(text)?.[1]).toBe(language)
    })
  })

  it('is closed while the form is not active', async () => {
    const { form, consent, path } = await givenForm(shop)
    await patch(`/v1/signup-forms/${form.id}`, { is_active: false })
    expect((await visit(path)).status).toBe(404)
    expect((await signUp(path, { consent: consent.id })).status).toBe(409)
    expect(await listRequests(form.id)).toEqual([])
    await patch(`/v1/signup-forms/${form.id}`, { is_active: true })
    expect((await visit(path)).status).toBe(200)
  })

  it('is closed when the form asks for nothing that is active', async () => {
    const { consent, path } = await givenForm(shop)
    await patch(`/v1/consents/${consent.id}`, { is_active: false })
    const { status, text } = await visit(path)
    expect([status, text.includes('This form is closed.')]).toEqual([404, true])
  })

  it('is unknown when the form is deleted', async () => {
    const { form, consent, path } = await givenForm(shop)
    await remove(`/v1/signup-forms/${form.id}`)
    expect((await visit(path)).status).toBe(404)
    expect((await signUp(path, { consent: consent.id })).status).toBe(404)
    expect(await listRequests(form.id)).toEqual([])
  })

  it('shows hostile texts of the organiser as text', async () => {
    const { path } = await givenForm(
      shop,
      { title: { en: hostile }, text: { en: hostile } },
      { title: { en: hostile } },
    )
    const { status, text } = await visit(path)
    expect([status, text.includes('&lt;script&gt;'), text.includes('<script')]).toEqual([200, true, false])
  })

  it('shows hostile texts of the visitor as text', async () => {
    const { path } = await givenForm(shop)
    const { status, text } = await signUp(path, { email: hostile })
    expect([status, text.includes('&lt;script&gt;'), text.includes('<script')]).toEqual([400, true, false])
  })
})

describe('a sign-up', () => {
  it('stores nothing but a pending request, and sends a link in the visitor’s language', async () => {
    const { form, consent, path } = await givenForm(shop)
    const email = freshAddress()
    const reply = await signUp(path, {
      email: ` ${email.toUpperCase()} `,
      consent: consent.id,
      fields: { language: 'da' },
    })
    expect(reply.status).toBe(200)
    expect(reply.text).toContain('Se i din indbakke')
    expect(reply.text).not.toContain(email)
    expect(await findCustomer(shop.organization, email)).toBeUndefined()
    expect(await listRequests(form.id)).toMatchObject([{ address: email, confirmed_at: null }])
    const [mail] = await deliverTo(email)
    expect(mail?.subject).toBe('Bekræft venligst: Nyhedsbrev')
    expect(mail?.to).toEqual({ name: null, address: email })
    expect(mail?.text).toContain('Skriv til mig.')
    expect(mail?.html).not.toContain(email)
    expect((await get(`/v1/consents/${consent.id}`)).body.has_records).toBe(false)
  })

  it('creates the customer on confirmation, in the edition of the form, with proof of both steps', async () => {
    const place = await seedBuyer()
    await seedEndpoint(place, { events: ['consent.given'] })
    const { form, consent, path } = await givenForm(place)
    const email = freshAddress()
    const { link } = await requestLink(path, {
      email,
      consent: consent.id,
      headers: { 'cf-connecting-ip': '198.51.100.9' },
    })
    const page = await visit(link)
    expect([page.status, page.text.includes('Yes, I agree')]).toEqual([200, true])
    expect(await findCustomer(place.organization, email)).toBeUndefined()
    const confirmed = await confirm(link)
    expect(confirmed.text).toContain('has your consent.')
    const customer = await findCustomer(place.organization, email)
    expect(customer).toMatchObject({ first_name: '', last_name: '', locale: 'en' })
    expect(await listEditionCustomers(customer?.seq ?? 0)).toEqual([
      { edition_id: place.edition, email, first_name: '', locale: 'en' },
    ])
    const [answer, ...others] = await listAnswers(customer?.id ?? '')
    expect(others).toEqual([])
    expect(answer).toMatchObject({
      consent_id: consent.id,
      status: 'given',
      method: 'double_opt_in',
      source: `signup_form:${form.id}`,
      consent_version: 1,
      language: 'en',
    })
    expect(JSON.parse(answer?.evidence ?? '')).toMatchObject({
      ip_prefix: '203.0.113.0/24',
      request: { ip_prefix: '198.51.100.0/24', site: pageSite },
    })
    const preferences = /href="\.\.\/\.\.(\/consents\/[\w-]+)"/.exec(confirmed.text)?.[1] ?? ''
    expect((await visit(preferences)).text).toContain('You agreed on')
    const entries = await db.all(
      sql`select action, actor_id, edition_id from audit_log where resource_id = ${customer?.id}`,
    )
    const events = await listEvents(place.organization)
    expect(events.map(({ kind, payload }) => [kind, payload.includes(email)])).toEqual([['consent.given', true]])
    expect(entries).toEqual([{ action: 'giveConsent', actor_id: customer?.id, edition_id: place.edition }])
  })

  it('gives nothing twice, however often and at once the link is confirmed', async () => {
    const { consent, path } = await givenForm(shop)
    const email = freshAddress()
    const { link } = await requestLink(path, { email, consent: consent.id })
    const replies = await Promise.all([confirm(link), confirm(link), confirm(link)])
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    const customer = await findCustomer(shop.organization, email)
    expect(await listAnswers(customer?.id ?? '')).toHaveLength(1)
    await write(sql`update consent_records set is_latest = 1 where user_id = ${customer?.id}`)
    expect((await confirm(link)).text).toContain('has your consent.')
    expect(await listAnswers(customer?.id ?? '')).toHaveLength(1)
  })

  it('makes one customer when an order of the same person comes at the same time', async () => {
    const { consent, path } = await givenForm(shop)
    for (let round = 0; round < 4; round++) {
      const email = freshAddress()
      const { link } = await requestLink(path, { email, consent: consent.id })
      const order = {
        external_id: `order of ${email}`,
        currency: 'dkk',
        customer: { email, first_name: 'Anna' },
        items: [{ product: 'Ticket', quantity: 1, unit_price: 10 }],
      }
      const [confirmed, imported] = await Promise.all([
        confirm(link),
        importOrders({ organization_id: shop.organization, edition_id: shop.edition }, [order]),
      ])
      expect([confirmed.status, imported.status]).toEqual([200, 201])
      const customer = await findCustomer(shop.organization, email)
      expect(customer?.first_name).toBe('Anna')
      expect(await listAnswers(customer?.id ?? '')).toHaveLength(1)
      expect(await listEditionCustomers(customer?.seq ?? 0)).toMatchObject([{ email, first_name: 'Anna' }])
    }
  })

  it('adds the consent to a customer who exists, and changes nothing else of them', async () => {
    const { consent, path } = await givenForm(shop)
    const [person] = await seedPeople({ organization: shop.organization, edition: shop.edition }, [{ locale: 'da' }])
    const email = person?.email ?? ''
    const load = () =>
      db.all(sql`select users.first_name, users.last_name, users.locale, users.phone_number, users.version,
      edition_customers.* from users join edition_customers on user_seq = users.seq where users.id = ${person?.id}`)
    const before = await load()
    const { link } = await requestLink(path, { email, consent: consent.id })
    await confirm(link)
    expect(await load()).toEqual(before)
    expect(await listAnswers(person?.id ?? '')).toMatchObject([{ consent_id: consent.id, status: 'given' }])
  })

  it('asks a customer who has agreed before again, and records no second answer', async () => {
    const { consent, path } = await givenForm(shop)
    const email = freshAddress()
    const { link } = await requestLink(path, { email, consent: consent.id })
    await confirm(link)
    const [mail] = await later(2 * hourMs, async () => {
      await signUp(path, { email, consent: consent.id })
      return deliverTo(email)
    })
    expect(mail).toBeDefined()
    const customer = await findCustomer(shop.organization, email)
    expect(await listAnswers(customer?.id ?? '')).toHaveLength(1)
  })

  it('adds a customer of another edition with what they told this form, and nothing that the other edition knows', async () => {
    const sibling = await seedSibling(shop)
    const [person] = await seedPeople({ organization: shop.organization, edition: sibling }, [{ locale: 'pl' }])
    const { consent, path } = await givenForm(shop)
    const { link } = await requestLink(path, { email: person?.email ?? '', consent: consent.id })
    await confirm(link)
    const memberships = await listEditionCustomers(person?.seq ?? 0)
    expect(memberships).toMatchObject([
      { edition_id: sibling, first_name: 'Ægir', locale: 'pl' },
      { edition_id: shop.edition, email: person?.email, first_name: '', locale: 'en' },
    ])
  })

  it('belongs to no edition with a form of the organisation', async () => {
    const { consent, path } = await givenForm({ organization: shop.organization, edition: null })
    const email = freshAddress()
    const { link } = await requestLink(path, { email, consent: consent.id })
    await confirm(link)
    const customer = await findCustomer(shop.organization, email)
    expect(await listEditionCustomers(customer?.seq ?? 0)).toEqual([])
    expect(await listAnswers(customer?.id ?? '')).toHaveLength(1)
  })

  it('gives the chosen consents alone, to the wordings that the visitor saw', async () => {
    const { form, consent, path } = await givenForm(shop)
    const other = await givenConsent(shop.organization, { edition_id: shop.edition, title: { en: 'Photos' } })
    const third = await givenConsent(shop.organization, { edition_id: shop.edition })
    await patch(`/v1/signup-forms/${form.id}`, { consent_ids: [third.id, consent.id, other.id] })
    const email = freshAddress()
    await signUp(path, { email, consent: [consent.id, other.id] })
    await patch(`/v1/consents/${consent.id}`, { text: { en: 'Sell my address.' } })
    const [mail] = await deliverTo(email)
    expect(mail?.text).not.toContain('Sell my address.')
    const link = /(\/signup\/confirm\/[\w-]+)/.exec(mail?.text ?? '')?.[1] ?? ''
    expect((await visit(link)).text).not.toContain('Sell my address.')
    await confirm(link)
    const answers = await listAnswers((await findCustomer(shop.organization, email))?.id ?? '')
    expect(new Map(answers.map(({ consent_id, consent_version }) => [consent_id, consent_version]))).toEqual(
      new Map([
        [consent.id, 1],
        [other.id, 1],
      ]),
    )
  })

  it('cannot be confirmed after 7 days', async () => {
    const { consent, path } = await givenForm(shop)
    const email = freshAddress()
    const { link } = await requestLink(path, { email, consent: consent.id })
    await later(7 * dayMs, async () => {
      expect((await visit(link)).status).toBe(404)
      expect((await confirm(link)).status).toBe(404)
    })
    expect(await findCustomer(shop.organization, email)).toBeUndefined()
  })

  it.each<[string, (place: Buyer, ids: { form: string; consent: string }) => Promise<unknown>]>([
    ['its form is deleted', (_, { form }) => remove(`/v1/signup-forms/${form}`)],
    ['its edition is archived', ({ edition }) => write(sql`update editions set is_archived = 1 where id = ${edition}`)],
    ['its consent is inactive', (_, { consent }) => patch(`/v1/consents/${consent}`, { is_active: false })],
  ])('cannot be confirmed once %s', async (_, end) => {
    const place = await seedBuyer()
    const { form, consent, path } = await givenForm(place)
    const email = freshAddress()
    const { link } = await requestLink(path, { email, consent: consent.id })
    await end(place, { form: form.id, consent: consent.id })
    expect((await visit(link)).status).toBe(404)
    expect((await confirm(link)).status).toBe(404)
    expect(await findCustomer(place.organization, email)).toBeUndefined()
  })

  it.each<[string, SignupFields, SignupFault]>([
    ['no address', { email: '' }, 'email_invalid'],
    ['a line break in the address', { email: 'a@example.test\r\nBcc: b@example.test' }, 'email_invalid'],
    ['two addresses', { email: 'a@example.test, b@example.test' }, 'email_invalid'],
    ['a NUL', { email: 'a\0@example.test' }, 'email_invalid'],
    ['no consent', { consent: [] }, 'consent_missing'],
    ['a consent of another form', { consent: ['con_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8'] }, 'consent_unknown'],
  ])('is refused with %s', async (_, fields, fault) => {
    const { form, consent, path } = await givenForm(shop)
    const reply = await signUpByScript(path, { consent: consent.id, ...fields })
    expect(reply.status).toBe(400)
    expect(JSON.parse(reply.text)).toMatchObject({ code: 'validation_error' })
    const page = await signUp(path, { consent: consent.id, ...fields })
    expect(page.status).toBe(400)
    expect(page.text).toContain(signupWords.en.faults[fault])
    expect(await listRequests(form.id)).toEqual([])
  })

  it.each([
    ['is refused without a required consent', 'optional', 400],
    ['needs no other consents than the required ones', 'required', 200],
  ] as const)('%s', async (_, chosen, status) => {
    const { form, consent, path } = await givenForm(shop, {}, { is_required: true })
    const other = await givenConsent(shop.organization, { edition_id: shop.edition })
    await patch(`/v1/signup-forms/${form.id}`, { consent_ids: [consent.id, other.id] })
    const reply = await signUp(path, { consent: chosen === 'required' ? consent.id : other.id })
    expect(reply.status).toBe(status)
    expect(await listRequests(form.id)).toHaveLength(status === 200 ? 1 : 0)
  })

  it('stores nothing of a robot, which gets the same answer', async () => {
    const { form, consent, path } = await givenForm(shop)
    const robot = await signUp(path, { consent: consent.id, fields: { homepage: 'https://spam.example' } })
    expect(await listRequests(form.id)).toEqual([])
    const person = await signUp(path, { consent: consent.id })
    expect([robot.status, robot.text]).toEqual([person.status, person.text])
  })
})

describe('the sites of a form', () => {
  it.each<Record<string, string>>([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://www.festival.example' },
    { origin: `${site}.evil.example` },
    { origin: `${site}:8443` },
    { origin: 'null', referer: `${site}/page` },
  ])('are named by the browser, and no others post: %o', async (headers) => {
    const { form, consent, path } = await givenForm(shop)
    const reply = await signUp(path, { consent: consent.id, headers })
    expect([reply.status, JSON.parse(reply.text).code]).toEqual([403, 'site_not_allowed'])
    expect(reply.headers.get('access-control-allow-origin')).toBeNull()
    expect(await listRequests(form.id)).toEqual([])
  })

  it('are required: a request that names none is refused', async () => {
    const { form, consent, path } = await givenForm(shop)
    const { status } = await visit(path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `email=${freshAddress()}&consent=${consent.id}`,
    })
    expect(status).toBe(403)
    expect(await listRequests(form.id)).toEqual([])
  })

  it.each([
    ['the site of the form, which may read the answer', site, site],
    ['the page itself', pageSite, null],
  ])('post to it: %s', async (_, origin, readableBy) => {
    const { form, consent, path } = await givenForm(shop)
    const { status, headers } = await signUp(path, { consent: consent.id, headers: { origin } })
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, readableBy])
    expect(await listRequests(form.id)).toHaveLength(1)
  })

  it('get JSON where a script asks for it', async () => {
    const { form, consent, path } = await givenForm(shop, { redirect_url: `${site}/thanks` })
    const reply = await signUpByScript(path, { consent: consent.id })
    expect(reply.status).toBe(200)
    expect(JSON.parse(reply.text)).toEqual({ status: 'confirmation_required', redirect_url: `${site}/thanks` })
    expect(await listRequests(form.id)).toHaveLength(1)
  })

  const fromScript = { origin: site, accept: 'application/json' }

  it('may send FormData, of which files are ignored', async () => {
    const { form, consent, path } = await givenForm(shop)
    const data = new FormData()
    data.append('email', freshAddress())
    data.append('consent', consent.id)
    data.append('consent', new Blob(['x']), 'x')
    expect((await visit(path, { method: 'POST', headers: fromScript, body: data })).status).toBe(200)
    expect(await listRequests(form.id)).toHaveLength(1)
  })

  it.each([
    ['application/json', '{}', 415],
    ['multipart/form-data', 'x', 400],
    ['application/x-www-form-urlencoded', 'x'.repeat(20_000), 413],
  ])('cannot send an unusable body of the type %s', async (type, body, status) => {
    const { form, path } = await givenForm(shop)
    const headers = { ...fromScript, 'content-type': type }
    expect((await visit(path, { method: 'POST', headers, body })).status).toBe(status)
    expect(await listRequests(form.id)).toEqual([])
  })

  it('get the visitor back by the redirect of the form alone', async () => {
    const { consent, path } = await givenForm(shop, { redirect_url: `${site}/tak?æ=1` })
    const evil = { redirect: 'https://evil.example', redirect_url: 'https://evil.example', next: '//evil.example' }
    const reply = await signUp(`${path}?redirect_url=https://evil.example`, { consent: consent.id, fields: evil })
    expect([reply.status, reply.headers.get('location')]).toEqual([303, `${site}/tak?%C3%A6=1`])
    expect((await visit(path)).headers.get('content-security-policy')).toContain(`form-action 'self' ${site};`)
  })
})

describe('walls between a form of the organisation and its editions', () => {
  it('let an edition change nothing of a customer who signed up at the organisation', async () => {
    const { organization, edition } = shop
    const { consent, path } = await givenForm({ organization, edition: null })
    const email = freshAddress()
    const { link } = await requestLink(path, { email, consent: consent.id })
    expect((await confirm(link)).status).toBe(200)
    const { token } = await givenMember({ id: organization }, 'admin', edition)
    const place = { organization_id: organization, edition_id: edition }
    const reply = await createUser(place, { email, first_name: 'Eve', last_name: 'Ning' }, token)
    expect([reply.status, reply.body.first_name]).toEqual([201, 'Eve'])
    expect(await findCustomer(organization, email)).toMatchObject({ id: reply.body.id, first_name: '' })
    expect((await patch(`/v1/user/${reply.body.id}`, { email: freshAddress() }, token)).status).toBe(403)
  })
})

describe('a customer of an import who signs up', () => {
  it('stays in the edition when the import is undone', async () => {
    const { organization, edition } = shop
    const email = freshAddress()
    const other = await seedEdition({ id: organization })
    await createUser({ organization_id: organization, edition_id: other.id }, { email })
    const imported = await importUsers({ organization_id: organization, edition_id: edition }, [{ email }])
    const { consent, path } = await givenForm({ organization, edition })
    const { link } = await requestLink(path, { email, consent: consent.id })
    expect((await confirm(link)).status).toBe(200)
    await undoToEnd(imported.body.id)
    const customer = await findCustomer(organization, email)
    const rows = await listEditionCustomers(customer?.seq ?? 0)
    expect(rows.map(({ edition_id }) => edition_id).toSorted()).toEqual([edition, other.id].toSorted())
  })
})

describe('the mails of a sign-up', () => {
  it('are in the export and in the messages of the customer, for their edition alone', async () => {
    const { organization, edition } = shop
    const { consent, path } = await givenForm({ organization, edition })
    const email = freshAddress()
    const { link } = await requestLink(path, { email, consent: consent.id })
    expect((await confirm(link)).status).toBe(200)
    const customer = await findCustomer(organization, email)
    const exported = await get(`/v1/user/${customer?.id}/export`)
    expect(exported.body.emails).toMatchObject([{ kind: 'signup_confirmation', recipient: email, status: 'sent' }])
    const listKinds = async (token?: string) =>
      (await get(`/v1/user/${customer?.id}/messages`, token)).body.results.map(({ kind }: { kind: string }) => kind)
    expect(await listKinds()).toEqual(['signup_confirmation'])
    const { token } = await givenMember({ id: organization }, 'manager', edition)
    expect(await listKinds(token)).toEqual(['signup_confirmation'])
    const other = await seedEdition({ id: organization })
    await createUser({ organization_id: organization, edition_id: other.id }, { email })
    const foreign = await givenMember({ id: organization }, 'manager', other.id)
    expect(await listKinds(foreign.token)).toEqual([])
  })
})
