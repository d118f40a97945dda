import { channels, describeMissingProvider, noProvider } from '../domain/messaging/messaging.ts'
import { findFaults, findMisspeltNames } from '../domain/settings/check.ts'
import { isHeld } from '../domain/waiting.ts'
import type { Bindings } from '../http/env.ts'
import { logError, logWarning } from '../http/log.ts'
import { readConfig } from './config.ts'

/** Throws for a setting that cannot be used when the Worker starts, instead of when the first message is sent. */
export function checkStart(env: Bindings): void {
  try {
    readConfig(env)
  } catch (error) {
    logError('start', error)
    throw error
  }
}

const holdWarning =
  'OUTGOING is hold: nothing is sent, posted or paid. All of it waits. Set OUTGOING to send, and deploy or start the service again, to release it.'

/** Warns of wrong settings, of channels without a provider, and while everything that goes out is held. */
function reportSettings(env: Bindings): void {
  const names = Object.entries(env).flatMap(([name, value]) => (typeof value === 'string' ? [name] : []))
  const faults = [...findFaults(env, { hasEmailBinding: env.EMAIL !== undefined }), ...findMisspeltNames(names)]
  for (const { setting, message } of faults) logWarning('start', message, { setting })
  const config = readConfig(env)
  for (const channel of channels)
    if (config[channel].name === noProvider) logWarning('start', describeMissingProvider(channel))
  if (isHeld(config)) logWarning('start', holdWarning, { setting: 'OUTGOING' })
}

/**
 * Makes handlers report wrong settings at the first event of an isolate. The platform drops what is logged while the
 * Worker starts.
 */
export function createStartReport() {
  let isReported = false
  return <Event, Rest extends unknown[], Result>(handle: (event: Event, env: Bindings, ...rest: Rest) => Result) =>
    (event: Event, env: Bindings, ...rest: Rest): Result => {
      if (!isReported) reportSettings(env)
      isReported = true
      return handle(event, env, ...rest)
    }
}
