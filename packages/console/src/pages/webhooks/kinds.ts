import type { Schema } from '../../api'
import { loadWords } from '../../words'

const webhooksWords = await loadWords('webhooks')

export type EventKind = Schema['WebhookEventKind']

const names = webhooksWords.kinds satisfies Record<EventKind, string>

export const eventKinds = Object.keys(names) as EventKind[]

/** The name of a kind of events. Deliveries can have kinds that are newer than this page. */
export const nameKind = (kind: string): string => (names as Readonly<Record<string, string>>)[kind] ?? kind
