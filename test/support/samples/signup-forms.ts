import { seedConsent } from '../seeding/messaging/consents.ts'
import { aForm, seedForm, seedForms, site } from '../seeding/messaging/signup-forms.ts'
import { next } from '../seeding/rows.ts'
import type { World } from '../world.ts'
import {
  buildPathId,
  buildQueryId,
  getFirstPlace,
  getForeignPlace,
  getSiblingPlace,
  makeOnce,
  type Sample,
  type SampleOf,
} from './sample.ts'

/** A form of organisation B, and one of edition 2 of A. */
const others = makeOnce(async (world) => ({
  foreign: await seedForm(getForeignPlace(world)),
  sibling: await seedForm(getSiblingPlace(world)),
}))

const oneForm = async (world: World): Promise<Sample> => {
  const { foreign, sibling } = await others(world)
  return { path: { id: await seedForm(getFirstPlace(world)) }, references: [buildPathId('id', foreign, sibling)] }
}

const content = async (world: World) => ({
  name: `Form ${next()}`,
  title: { en: 'News' },
  text: { en: `Sign up ${next()}.` },
  languages: ['en', 'se'],
  consent_ids: [await seedConsent(getFirstPlace(world))],
  allowed_sites: [site, 'https://tickets.example.com'],
  redirect_url: `${site}/thanks`,
  mails_per_hour: 100,
  is_active: true,
})

export const signupFormSamples: Record<string, SampleOf> = {
  listSignupForms: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [
        buildQueryId('edition_id', b.editions[0].id, a.editions[1].id),
        buildQueryId('organization_id', b.id),
      ],
    }),
    fill: (world, count) => seedForms(getFirstPlace(world), count),
  },

  createSignupForm: {
    make: async (world) => ({
      body: { ...aForm(world.a.id, world.a.editions[0].id, []), ...(await content(world)) },
    }),
  },

  getSignupForm: { make: oneForm },

  updateSignupForm: {
    make: async (world) => ({ ...(await oneForm(world)), body: await content(world) }),
  },

  deleteSignupForm: { make: oneForm },
}
