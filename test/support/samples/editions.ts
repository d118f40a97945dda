import { seedEditionContents } from '../seeding/edition-contents.ts'
import { seedEditions, seedEdition } from '../seeding/editions.ts'
import { next } from '../seeding/rows.ts'
import type { World } from '../world.ts'
import { buildPathId, buildQueryId, type SampleOf } from './sample.ts'

const full = new WeakMap<World, Promise<string>>()

/** One edition that owns rows of every table; duplicating it does not change it. */
function fullEdition(world: World): Promise<string> {
  const make = async () => {
    const id = (await seedEdition(world.a)).id
    await seedEditionContents({ organization: world.a.id, edition: id })
    return id
  }
  const edition = full.get(world) ?? make()
  full.set(world, edition)
  return edition
}

export const editionSamples: Record<string, SampleOf> = {
  listEditions: {
    make: ({ b }) => ({ references: [buildQueryId('organization_id', b.id), buildQueryId('event_id', b.event)] }),
    fill: ({ a }, count) => seedEditions(a, count),
    // Editions without a date come after all dates.
  },

  createEdition: {
    make: ({ a }) => ({
      body: {
        organization_id: a.id,
        event_id: a.event,
        name: `Summer ${next()}`,
        start_date: '2026-07-01T10:00:00+02:00',
        end_date: '2026-07-03T22:00:00+02:00',
        timezone: 'Europe/Copenhagen',
        default_country_code: '+45',
        default_language: 'en',
        enabled_languages: ['en', 'da'],
        tax_type: 'none',
      },
    }),
  },

  getEditionMeta: { make: ({ b }) => ({ references: [buildQueryId('organization_id', b.id)] }) },

  getEdition: {
    make: ({ a, b }) => ({
      path: { id: a.editions[0].id },
      references: [buildPathId('id', b.editions[0].id, a.editions[1].id)],
    }),
  },

  updateEdition: {
    make: ({ a, b }) => ({
      path: { id: a.editions[0].id },
      body: {
        name: `Winter ${next()}`,
        timezone: 'Europe/Stockholm',
        enabled_languages: ['en', 'da', 'se'],
        metadata: { internal_code: 'A-17' },
        email_sender_name: 'Nordlys',
        email_reply_to: 'info@example.test',
        meta_title: { en: 'Winter festival' },
        transaction_receipt_email_id: a.messages.receipt,
        refund_confirmation_email_id: a.messages.confirmation,
      },
      references: [buildPathId('id', b.editions[0].id, a.editions[1].id)],
    }),
  },

  duplicateEdition: {
    make: async (world) => ({
      path: { id: await fullEdition(world) },
      body: { name: `Copy ${next()}`, slug: `copy-${next()}`, event_id: world.a.event, email_template_mode: 'copy' },
      references: [buildPathId('id', world.b.editions[0].id)],
    }),
  },

  getEditionHealthcheck: {
    make: ({ a, b }) => ({
      path: { edition_id: a.editions[0].id },
      references: [buildPathId('edition_id', b.editions[0].id, a.editions[1].id)],
    }),
  },

  getEditionStats: {
    make: ({ a, b }) => ({
      path: { id: a.editions[0].id },
      references: [buildPathId('id', b.editions[0].id, a.editions[1].id)],
    }),
  },
}
