import { withTimeLimit } from '../time-limit/time-limit.ts'
import type { PushResult } from './passes.ts'

/** A binding of the Worker that connects to Apple's push service with the certificate of the pass type. */
export interface PushConnection {
  fetch: (url: string, init: RequestInit) => Promise<Response>
}

const host = 'https://api.push.apple.com'
const timeoutMs = 5000

async function readResult(response: Response): Promise<PushResult> {
  if (response.ok) return 'sent'
  const text = (await response.text()).slice(0, 500)
  // The phone has deleted the pass, or the token is invalid.
  if (response.status === 410 || text.includes('BadDeviceToken')) return 'gone'
  const isThisPushOnly = response.status >= 400 && response.status < 500 && ![403, 408, 429].includes(response.status)
  return isThisPushOnly ? 'refused' : 'transient'
}

/** Sends an empty notification, which makes the phone request the changes from the web service. */
export async function pushToPhone(
  connection: PushConnection,
  passTypeId: string,
  pushToken: string,
): Promise<PushResult> {
  try {
    return await withTimeLimit(timeoutMs, async (signal) =>
      readResult(
        await connection.fetch(`${host}/3/device/${encodeURIComponent(pushToken)}`, {
          method: 'POST',
          headers: { 'apns-topic': passTypeId, 'apns-push-type': 'background', 'content-type': 'application/json' },
          body: '{}',
          signal,
        }),
      ),
    )
  } catch {
    return 'transient'
  }
}
