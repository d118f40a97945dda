import { describe, expect, it } from 'vitest'
import { get, patch } from '../support/api.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'

async function seedWithLanguages(columns: Parameters<typeof seedEdition>[1]) {
  const edition = await seedEdition(await givenOrganization(), columns)
  return { path: `/v1/editions/${edition.id}` }
}

describe('updateEdition', () => {
  it('keeps the default language among the enabled ones', async () => {
    const { path } = await seedWithLanguages({ default_language: 'en', enabled_languages: ['en', 'da'] })
    const before = (await get(path)).text
    for (const [body, pointer] of [
      [{ default_language: 'pl' }, '#/default_language'],
      [{ enabled_languages: ['da'] }, '#/enabled_languages'],
      [{ default_language: 'da', enabled_languages: ['en', 'pl'] }, '#/default_language'],
    ] as const) {
      const { status, body: problem } = await patch(path, body)
      expect([status, problem.errors]).toMatchObject([400, [{ code: 'language_not_enabled', pointer }]])
    }
    expect((await get(path)).text).toBe(before)
    expect((await patch(path, { default_language: 'da' })).status).toBe(200)
    expect((await patch(path, { default_language: 'pl', enabled_languages: ['pl'] })).status).toBe(200)
  })

  it('changes other fields when the stored languages contradict each other', async () => {
    const { path } = await seedWithLanguages({ default_language: 'en', enabled_languages: ['da'] })
    const same = { default_language: 'en', enabled_languages: ['da'] }
    expect((await patch(path, { ...same, name: 'Renamed' })).body.name).toBe('Renamed')
  })
})
