import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, post, remove } from '../support/api.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedSibling } from '../support/seeding/customers.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { aForm, givenForm, seedForm, site } from '../support/seeding/messaging/signup-forms.ts'
import { seedBuyer, type Buyer } from '../support/seeding/sales/trades.ts'

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

  it('asks for consents of its own edition or organisation alone', async () => {
    const own = await givenConsent(shop.organization, { edition_id: shop.edition })
    const ofSibling = await givenConsent(shop.organization, { edition_id: sibling })
    const ofOrganization = await givenConsent(shop.organization)
    const stranger = await seedBuyer()
    const foreign = await givenConsent(stranger.organization)
    const create = (edition: string | null, consent: string) =>
      post('/v1/signup-forms', aForm(shop.organization, edition, [own.id, consent].slice(edition ? 0 : 1)))
    for (const consent of [ofSibling, ofOrganization, foreign])
      expect(describeRefusal(await create(shop.edition, consent.id))).toBe(
        '400 validation_error: does_not_exist #/consent_ids/1',
      )
    for (const consent of [own, foreign])
      expect(describeRefusal(await create(null, consent.id))).toBe(
        '400 validation_error: does_not_exist #/consent_ids/0',
      )
    expect((await create(null, ofOrganization.id)).status).toBe(201)
  })

  it('gives a role of an edition the forms of its edition alone', async () => {
    const { token } = await givenMember({ id: shop.organization }, 'admin', shop.edition)
    const consent = await givenConsent(shop.organization, { edition_id: shop.edition })
    const made = await post('/v1/signup-forms', aForm(shop.organization, shop.edition, [consent.id]), token)
    expect(made.status).toBe(201)
    const elsewhere = await givenConsent(shop.organization, { edition_id: sibling })
    for (const [edition, id] of [
      [sibling, elsewhere.id],
      [null, (await givenConsent(shop.organization)).id],
    ] as const)
      expect((await post('/v1/signup-forms', aForm(shop.organization, edition, [id]), token)).status).not.toBe(201)
    const hidden = [
      await seedForm({ organization: shop.organization, edition: sibling }),
      await seedForm({ organization: shop.organization, edition: null }),
    ]
    const { results } = (await get('/v1/signup-forms?page_size=500', token)).body
    const ids = results.map(({ id }: { id: string }) => id)
    expect(ids).toContain(made.body.id)
    for (const id of hidden) {
      expect(ids).not.toContain(id)
      expect((await get(`/v1/signup-forms/${id}`, token)).status).toBe(404)
      expect((await patch(`/v1/signup-forms/${id}`, { name: 'Mine' }, token)).status).toBe(404)
      expect((await remove(`/v1/signup-forms/${id}`, token)).status).toBe(404)
    }
  })
})

describe('listSignupForms', () => {
  it('filters by edition, organisation and state, and sorts by name', async () => {
    const place = await seedBuyer()
    const wide = { organization: place.organization, edition: null }
    const one = await seedForm(place, { name: 'B', name_key: 'b' })
    const two = await seedForm(wide, { name: 'A', name_key: 'a' })
    const closed = await seedForm(place, { name: 'C', name_key: 'c', is_active: false })
    const list = async (query: string) =>
      (await get(`/v1/signup-forms?${query}`)).body.results.map(({ id }: { id: string }) => id)
    expect(await list(`organization_id=${place.organization}&ordering=name`)).toEqual([two, one, closed])
    expect(await list(`edition_id=${place.edition}&ordering=-name`)).toEqual([closed, one])
    expect(await list(`edition_id=${place.edition}&is_active=false`)).toEqual([closed])
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
})

describe('updateSignupForm', () => {
  it('changes what it is sent, and checks the redirect against the sites that remain', async () => {
    const { form } = await givenForm(shop, { redirect_url: `${site}/thanks` })
    const path = `/v1/signup-forms/${form.id}`
    expect(describeRefusal(await patch(path, { allowed_sites: [] }))).toBe(
      '400 validation_error: redirect_not_allowed #/redirect_url',
    )
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
})

describe('deleteSignupForm', () => {
  it('removes the form', async () => {
    const { form } = await givenForm(shop)
    expect((await remove(`/v1/signup-forms/${form.id}`)).status).toBe(204)
    expect((await get(`/v1/signup-forms/${form.id}`)).status).toBe(404)
  })
})
