import { seedAnswers, seedConsent, seedConsents } from '../seeding/messaging/consents.ts'
import { next } from '../seeding/rows.ts'
import type { World } from '../world.ts'
import { makeOnce, buildPathId, buildQueryId, type Sample, type SampleOf, getFirstPlace } from './sample.ts'

/** A similar definition in organisation B, and in edition 2 of A. */
const others = makeOnce(async ({ a, b }) => ({
  foreign: await seedConsent({ organization: b.id, edition: b.editions[0].id }),
  sibling: await seedConsent({ organization: a.id, edition: a.editions[1].id }),
}))

const oneConsent = async (world: World): Promise<Sample> => {
  const { foreign, sibling } = await others(world)
  return { path: { id: await seedConsent(getFirstPlace(world)) }, references: [buildPathId('id', foreign, sibling)] }
}

/** The customer of edition 1 of A, with this many answers. */
async function oneAnswer(world: World, answers: number): Promise<Sample> {
  const { a, b } = world
  const { foreign, sibling } = await others(world)
  const consent = await seedConsent(getFirstPlace(world))
  const { user } = a.editions[0]
  if (answers > 0) await seedAnswers(getFirstPlace(world), user, consent, answers)
  return {
    path: { id: user, consent_id: consent },
    references: [
      buildPathId('id', b.editions[0].user, a.editions[1].user),
      buildPathId('consent_id', foreign, sibling),
    ],
  }
}

const body = () => ({
  language: 'da',
  method: 'admin',
  source: 'support',
  evidence: { ticket: `T-${next()}` },
  occurred_at: new Date().toISOString(),
})

const anAnswer = async (world: World, answers: number): Promise<Sample> => ({
  ...(await oneAnswer(world, answers)),
  body: body(),
})

const historyOf = makeOnce((world) => oneAnswer(world, 1))

export const consentSamples: Record<string, SampleOf> = {
  listConsents: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [
        buildQueryId('edition_id', b.editions[0].id, a.editions[1].id),
        buildQueryId('organization_id', b.id),
      ],
    }),
    fill: (world, count) => seedConsents(getFirstPlace(world), count),
  },

  createConsent: {
    make: ({ a }) => ({
      body: {
        organization_id: a.id,
        edition_id: a.editions[0].id,
        key: `newsletter-${next()}`,
        name: 'Newsletter',
        title: { en: 'Newsletter' },
        text: { en: 'Write to me.' },
        link_url: { en: 'https://example.com/privacy' },
        type: 'marketing',
        channels: ['email'],
        legal_basis: 'consent',
        is_required: false,
        is_active: true,
        collect_at: ['checkout'],
        position: 3,
        expires_after_days: 730,
        reconsent_on_change: true,
        metadata: { internal_code: 'A-17' },
      },
    }),
  },

  getConsent: { make: oneConsent },

  updateConsent: {
    make: async (world) => ({
      ...(await oneConsent(world)),
      body: {
        name: `Newsletter ${next()}`,
        title: { en: 'News' },
        text: { en: `Write to me ${next()}.` },
        link_url: { en: 'https://example.com/terms' },
        type: 'marketing',
        channels: ['email', 'sms'],
        legal_basis: 'consent',
        is_required: false,
        is_active: true,
        collect_at: ['registration'],
        position: 4,
        expires_after_days: 365,
        reconsent_on_change: true,
        metadata: { internal_code: 'B-18' },
      },
    }),
  },

  deleteConsent: { make: oneConsent },

  listUserConsents: {
    make: ({ a, b }) => ({
      path: { id: a.editions[0].user },
      references: [
        buildPathId('id', b.editions[0].user, a.editions[1].user),
        buildQueryId('edition_id', b.editions[0].id, a.editions[1].id),
      ],
    }),
    fill: (world, count) => seedConsents(getFirstPlace(world), count),
  },

  listConsentRecords: {
    make: historyOf,
    fill: async (world, count) => {
      const { id = '', consent_id = '' } = (await historyOf(world)).path ?? {}
      await seedAnswers(getFirstPlace(world), id, consent_id, count)
    },
  },

  getConsentProof: { make: (world) => oneAnswer(world, 2) },
  giveConsent: { make: (world) => anAnswer(world, 0) },
  skipConsent: { make: (world) => anAnswer(world, 0) },
  withdrawConsent: { make: (world) => anAnswer(world, 1) },
}
