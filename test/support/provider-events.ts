import { fromBase64, toBase64, utf8 } from '../../src/domain/text/encoding.ts'
import { secret, visit } from './visits.ts'

/** Posts an event as the e-mail provider does. */
export async function postEvent(event: object, signedWith = secret) {
  const body = JSON.stringify(event)
  const [id, timestamp] = [crypto.randomUUID(), String(Math.floor(Date.now() / 1000))]
  const key = await crypto.subtle.importKey(
    'raw',
    fromBase64(signedWith.slice(6)),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  const mac = toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, utf8(`${id}.${timestamp}.${body}`))))
  const headers = {
    'content-type': 'application/json',
    'svix-id': id,
    'svix-timestamp': timestamp,
    'svix-signature': `v1,${mac}`,
  }
  return visit('/provider-events/resend', { method: 'POST', body, headers }, null)
}
