import { randomBytes } from 'node:crypto'
import { openState, type StoredState } from '../state.ts'

/** The feed that events come from, and the address that they go to. */
interface Route {
  url: string
  organization: string
  target: string
}

export interface Subscription extends Route {
  /** Null for the events of all editions. */
  edition: string | null
  /** Null for events of all kinds. */
  kinds: readonly string[] | null
}

/** Reads the secret that signs posts to the target, or makes it. */
export async function loadSecret({ url, organization, target }: Route): Promise<string> {
  const state = openState<{ secret: string }>('listen', ['secret', url, organization, target])
  const stored = await state.read()
  if (stored !== null) return stored.secret
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  await state.write({ secret })
  return secret
}

/** The position behind which the next `ecm listen` continues. */
export type StoredCursor = StoredState<{ cursor: string }>

/**
 * Opens the cursor of a subscription. Other kinds or another edition have a cursor of their own, so that two commands
 * with the same target do not move each other's.
 */
export const openCursor = ({ url, organization, target, edition, kinds }: Subscription): StoredCursor =>
  openState('listen', ['cursor', url, organization, target, edition ?? '', kinds?.join(',') ?? ''])
