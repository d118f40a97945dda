import type { Bindings } from '../http/env.ts'
import { logError } from '../http/log.ts'
import { readConfig } from './config.ts'
import { checkProviders } from './gateways.ts'

/** Refuses to start with wrong settings, which would otherwise show only when a message is sent. */
export function checkStart(env: Bindings): void {
  try {
    checkProviders(readConfig(env))
  } catch (error) {
    logError('start', error)
    throw error
  }
}
