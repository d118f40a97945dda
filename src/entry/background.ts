import { waitUntil } from 'cloudflare:workers'
import { logError } from '../http/log.ts'

/** Lets work go on after its handler has returned. A fault is logged: what was left undone has a row, and a sweep. */
export const inBackground = (name: string, work: Promise<unknown>): void =>
  waitUntil(work.catch((error: unknown) => logError(name, error)))
