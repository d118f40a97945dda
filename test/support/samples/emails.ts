import { seedPeople } from '../seeding/customers.ts'
import { seedAccount, seedMember } from '../seeding/members.ts'
import { aBlock, seedMessage, seedMessages } from '../seeding/messaging/email-messages.ts'
import { next } from '../seeding/rows.ts'
import type { World } from '../world.ts'
import { buildPathId, buildQueryId, type SampleOf, getFirstPlace } from './sample.ts'

const referToMessage = ({ a, b }: World) => buildPathId('id', b.editions[0].message, a.editions[1].message)

const subject = { en: 'Hello {{ customer.first_name }}', da: 'Hej {{ customer.first_name }}' }

const preheader = { en: 'Doors open at 17:00', da: 'Dørene åbner kl. 17' }

/** A test message to a new member, with the data of a customer. */
export async function makeTestBody(world: World): Promise<Record<string, unknown>> {
  const { organization, edition } = getFirstPlace(world)
  const email = `tester-${next()}@example.test`
  await seedMember(await seedAccount(email), { organization, edition, role: 'viewer' })
  const [customer] = await seedPeople({ organization, edition }, [{}])
  return { to: [email], languages: ['da'], user_id: customer?.id }
}

export const emailSamples: Record<string, SampleOf> = {
  listEmailMessages: {
    make: ({ a, b }) => ({
      query: { edition_id: a.editions[0].id },
      references: [
        buildQueryId('edition_id', b.editions[0].id, a.editions[1].id),
        buildQueryId('organization_id', b.id),
      ],
    }),
    fill: (world, count) => seedMessages(getFirstPlace(world), count),
  },

  createEmailMessage: {
    make: (world) => ({
      body: {
        organization_id: world.a.id,
        edition_id: world.a.editions[0].id,
        title: `Receipt ${next()}`,
        subject,
        preheader,
        type: 'receipt',
        scope: 'edition',
        template: 'modern',
      },
    }),
  },

  listTemplateVariables: { make: () => ({}) },

  getEmailMessage: {
    make: (world) => ({ path: { id: world.a.editions[0].message }, references: [referToMessage(world)] }),
  },

  updateEmailMessage: {
    // The subject is left out, because answers show it as its recipients read it.
    make: async (world) => ({
      path: { id: await seedMessage(getFirstPlace(world)) },
      body: {
        title: `Message ${next()}`,
        preheader,
        type: 'reminder',
        template: 'modern',
        blocks: [aBlock('Changed')],
      },
      references: [referToMessage(world)],
    }),
  },

  deleteEmailMessage: {
    make: async (world) => ({
      path: { id: await seedMessage(getFirstPlace(world)) },
      references: [referToMessage(world)],
    }),
  },

  adoptEmailMessage: {
    make: async (world) => ({
      path: { id: world.a.messages.receipt },
      body: { edition_id: world.a.editions[0].id, title: `Adopted ${next()}` },
      references: [referToMessage(world)],
    }),
  },

  sendTestMessage: {
    make: async (world) => ({
      path: { id: await seedMessage(getFirstPlace(world)) },
      body: await makeTestBody(world),
      references: [referToMessage(world)],
    }),
  },

  duplicateEmailMessage: {
    make: (world) => ({
      path: { id: world.a.editions[0].message },
      body: { edition_id: world.a.editions[0].id, organization_id: world.a.id, title: `Copy ${next()}` },
      references: [referToMessage(world)],
    }),
  },

  previewEmailMessage: {
    make: (world) => ({
      path: { id: world.a.editions[0].message },
      body: {
        mode: 'mjml',
        language: 'da',
        context: { customer: { first_name: 'Ægir' } },
        blocks: [aBlock('Unsaved')],
        subject,
        preheader,
      },
      references: [referToMessage(world)],
    }),
  },
}
