import { withTimeLimit } from '../time-limit/time-limit.ts'
import type { PushResult } from './passes.ts'

/** A connection to Apple's push service with the certificate of the pass type: a binding of the Worker. */
export interface PushConnection {
  fetch: (url: string, init: RequestInit) => Promise<Response>
}

const host = 'https://api.push.apple.com'
const timeoutMs = 5000

async function readResult(response: Response): Promise<PushResult> {
  if (response.ok) return 'sent'
  const text = (await response.text()).slice(0, 500)
  // The phone has dropped the pass, or the token was never one.
  if (response.status === 410 || text.includes('BadDeviceToken')) return 'gone'
  const isOfOne = response.status >= 400 && response.status < 500 && ![403, 408, 429].includes(response.status)
  return isOfOne ? 'refused' : 'transient'
}

/** An empty notification: the phone then requests the changes from the web service. */
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
