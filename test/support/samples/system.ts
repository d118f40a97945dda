import { seedDeadMessages } from '../seeding/dead-messages.ts'
import type { SampleOf } from './sample.ts'

export const systemSamples: Record<string, SampleOf> = {
  getSystemStatus: { make: () => ({}) },

  listDeadMessages: {
    make: () => ({}),
    fill: (_, count) => seedDeadMessages(count),
  },

  retryDeadMessage: {
    make: async () => ({ path: { id: (await seedDeadMessages(1))[0]?.id ?? '' } }),
  },
}
