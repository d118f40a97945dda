import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, post, remove } from '../support/api.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedSibling } from '../support/seeding/customers.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { aForm, givenForm, seedForm, site } from '../support/seeding/messaging/signup-forms.ts'
import { seedBuyer, type Buyer } from '../support/seeding/sales/trades.ts'
import { visit } from '../support/visits.ts'

let shop: Buyer
let sibling: string
beforeAll(async () => {
  shop = await seedBuyer()
  sibling = await seedSibling(shop)
})

describe('createSignupForm', () => {
  it('stores a form with its defaults, and says where its page is', async () => {
    const { form, consent } = await givenForm(shop, { redirect_url: `${site}/thanks?from=form` })
    expect(form).toMatchObject({
      organization: { id: shop.organization },
      edition: { id: shop.edition },
      name: 'Footer of the site',
      languages: ['en', 'da'],
      consent_ids: [consent.id],
      allowed_sites: [site],
      redirect_url: `${site}/thanks?from=form`,
      mails_per_hour: 60,
      is_active: true,
      public_url: `https://events.example.test/signup/${form.id}`,
    })
    expect((await get(`/v1/signup-forms/${form.id}`)).body).toEqual(form)
  })

  it.each([
    ['no language', { languages: [] }, 'min_items #/languages'],
    ['a language twice', { languages: ['en', 'EN'] }, 'repeated #/languages'],
    ['no consent', { consent_ids: [] }, 'min_items #/consent_ids'],
    ['a consent of nobody', { consent_ids: ['con_nobody'] }, 'does_not_exist #/consent_ids/0'],
    ['a site without https', { allowed_sites: ['http://www.example.com'] }, 'malformed_site #/allowed_sites/0'],
    ['a site with a path', { allowed_sites: ['https://www.example.com/a'] }, 'malformed_site #/allowed_sites/0'],
    ['a wildcard', { allowed_sites: ['https://*.example.com'] }, 'malformed_site #/allowed_sites/0'],
    ['a host that ends the directive', { allowed_sites: ['https://a;b.example'] }, 'malformed_site #/allowed_sites/0'],
    ['a host of one label', { allowed_sites: ['https://com'] }, 'malformed_site #/allowed_sites/0'],
    ['a site with a password', { allowed_sites: ['https://a:b@www.example.com'] }, 'malformed_site #/allowed_sites/0'],
    ['a scheme as a site', { allowed_sites: ['data:text/html,a'] }, 'malformed_site #/allowed_sites/0'],
    ['one site in two spellings', { allowed_sites: [site, `${site}:443/`] }, 'repeated #/allowed_sites'],
    ['a redirect elsewhere', { redirect_url: 'https://evil.example/' }, 'redirect_not_allowed #/redirect_url'],
    [
      'a redirect to a site inside a host',
      { redirect_url: `${site}.evil.example/` },
      'redirect_not_allowed #/redirect_url',
    ],
    [
      'a redirect to a user of the site',
      { redirect_url: `${site}@evil.example/` },
      'redirect_not_allowed #/redirect_url',
    ],
    ['a redirect to a script', { redirect_url: 'javascript:alert(1)' }, 'malformed_url #/redirect_url'],
    ['no mails', { mails_per_hour: 0 }, 'min_value #/mails_per_hour'],
  ])('refuses %s', async (_, fields, error) => {
    const consent = await givenConsent(shop.organization, { edition_id: shop.edition })
    const reply = await post('/v1/signup-forms', aForm(shop.organization, shop.edition, [consent.id], fields))
    expect(describeRefusal(reply)).toBe(`400 validation_error: ${error}`)
  })

  describe('with consents of different places', () => {
    const consents = { own: '', sibling: '', organization: '', foreign: '' }
    beforeAll(async () => {
      consents.own = (await givenConsent(shop.organization, { edition_id: shop.edition })).id
      consents.sibling = (await givenConsent(shop.organization, { edition_id: sibling })).id
      consents.organization = (await givenConsent(shop.organization)).id
      consents.foreign = (await givenConsent((await seedBuyer()).organization)).id
    })

    it.each(['sibling', 'organization', 'foreign'] as const)(
      'refuses a consent of another place in a form of an edition: %s',
      async (place) => {
        const form = aForm(shop.organization, shop.edition, [consents.own, consents[place]])
        expect(describeRefusal(await post('/v1/signup-forms', form))).toBe(
          '400 validation_error: does_not_exist #/consent_ids/1',
        )
      },
    )

    it.each(['own', 'foreign'] as const)(
      'refuses a consent of an edition or another tenant in a form of the organisation: %s',
      async (place) => {
        const form = aForm(shop.organization, null, [consents[place]])
        expect(describeRefusal(await post('/v1/signup-forms', form))).toBe(
          '400 validation_error: does_not_exist #/consent_ids/0',
        )
      },
    )

    it('accepts a consent of the organisation in a form of the organisation', async () => {
      const form = aForm(shop.organization, null, [consents.organization])
      expect((await post('/v1/signup-forms', form)).status).toBe(201)
    })
  })
})

describe('a role of an edition', () => {
  let token: string
  beforeAll(async () => {
    token = (await givenMember({ id: shop.organization }, 'admin', shop.edition)).token
  })
  const listIds = async () =>
    (await get('/v1/signup-forms?page_size=500', token)).body.results.map(({ id }: { id: string }) => id)

  it('makes forms of its edition', async () => {
    const consent = await givenConsent(shop.organization, { edition_id: shop.edition })
    const reply = await post('/v1/signup-forms', aForm(shop.organization, shop.edition, [consent.id]), token)
    expect(reply.status).toBe(201)
    expect(await listIds()).toContain(reply.body.id)
  })

  it.each<[string, string, () => string | null]>([
    ['another edition', '400 validation_error: does_not_exist #/edition_id', () => sibling],
    ['the organisation', '403 permission_denied', () => null],
  ])('makes no forms of %s', async (_, refusal, chooseEdition) => {
    const edition = chooseEdition()
    const consent = await givenConsent(shop.organization, edition === null ? {} : { edition_id: edition })
    const reply = await post('/v1/signup-forms', aForm(shop.organization, edition, [consent.id]), token)
    expect(describeRefusal(reply)).toBe(refusal)
  })

  it.each<[string, () => string | null]>([
    ['another edition', () => sibling],
    ['the organisation', () => null],
  ])('finds no forms of %s', async (_, chooseEdition) => {
    const id = await seedForm({ organization: shop.organization, edition: chooseEdition() })
    expect(await listIds()).not.toContain(id)
    expect((await get(`/v1/signup-forms/${id}`, token)).status).toBe(404)
    expect((await patch(`/v1/signup-forms/${id}`, { name: 'Mine' }, token)).status).toBe(404)
    expect((await remove(`/v1/signup-forms/${id}`, token)).status).toBe(404)
    expect((await get(`/v1/signup-forms/${id}`)).body.name).not.toBe('Mine')
  })
})

describe('listSignupForms', () => {
  const forms = { one: '', two: '', closed: '' }
  let place: Buyer
  beforeAll(async () => {
    place = await seedBuyer()
    forms.one = await seedForm(place, { name: 'B', name_key: 'b' })
    forms.two = await seedForm({ ...place, edition: null }, { name: 'A', name_key: 'a' })
    forms.closed = await seedForm(place, { name: 'C', name_key: 'c', is_active: false })
  })

  it.each<[string, (keyof typeof forms)[]]>([
    ['organization_id=ORGANISATION&ordering=name', ['two', 'one', 'closed']],
    ['edition_id=EDITION&ordering=-name', ['closed', 'one']],
    ['edition_id=EDITION&is_active=false', ['closed']],
  ])('filters by edition, organisation and state, and sorts by name: %s', async (template, expected) => {
    const query = template.replace('ORGANISATION', place.organization).replace('EDITION', place.edition)
    const { results } = (await get(`/v1/signup-forms?${query}`)).body
    expect(results.map(({ id }: { id: string }) => id)).toEqual(expected.map((name) => forms[name]))
  })
})

describe('getSignupForm', () => {
  it('leaves out a consent that was deleted', async () => {
    const { form, consent } = await givenForm(shop)
    const other = await givenConsent(shop.organization, { edition_id: shop.edition })
    await patch(`/v1/signup-forms/${form.id}`, { consent_ids: [consent.id, other.id] })
    await remove(`/v1/consents/${consent.id}`)
    expect((await get(`/v1/signup-forms/${form.id}`)).body.consent_ids).toEqual([other.id])
  })

  it('shows no consents when all were deleted, and takes other changes', async () => {
    const { form, consent, path } = await givenForm(shop)
    await remove(`/v1/consents/${consent.id}`)
    const reply = await patch(`/v1/signup-forms/${form.id}`, { name: 'Empty' })
    expect([reply.status, reply.body.name, reply.body.consent_ids]).toEqual([200, 'Empty', []])
    expect((await get(`/v1/signup-forms/${form.id}`)).body).toEqual(reply.body)
    expect((await visit(path)).status).toBe(404)
  })
})

describe('updateSignupForm', () => {
  it('changes what it is sent, and nothing else', async () => {
    const { form } = await givenForm(shop, { redirect_url: `${site}/thanks` })
    const path = `/v1/signup-forms/${form.id}`
    const reply = await patch(path, {
      allowed_sites: ['https://other.example/'],
      redirect_url: null,
      languages: ['pl'],
    })
    expect(reply.body).toMatchObject({
      allowed_sites: ['https://other.example'],
      redirect_url: null,
      languages: ['pl'],
      name: form.name,
    })
    expect((await get(path)).body).toEqual(reply.body)
  })

  it('checks the redirect against the sites that remain', async () => {
    const { form } = await givenForm(shop, { redirect_url: `${site}/thanks` })
    const path = `/v1/signup-forms/${form.id}`
    expect(describeRefusal(await patch(path, { allowed_sites: [] }))).toBe(
      '400 validation_error: redirect_not_allowed #/redirect_url',
    )
    expect((await get(path)).body).toEqual(form)
  })
})

describe('deleteSignupForm', () => {
  it('removes the form', async () => {
    const { form } = await givenForm(shop)
    expect((await remove(`/v1/signup-forms/${form.id}`)).status).toBe(204)
    expect((await get(`/v1/signup-forms/${form.id}`)).status).toBe(404)
  })
})
