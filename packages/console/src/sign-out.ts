import { ApiError } from '@event-commerce/client'
import { notifications } from '@mantine/notifications'
import { api, queries } from './api'
import { caller } from './caller'
import { forgetToken } from './session'
import { words } from './words'

/** Ends the session at the service, if the token is one. Access tokens that somebody pasted stay valid. */
async function endSession(): Promise<void> {
  const { id, kind } = (await queries.ensureQueryData(caller)).data.token
  if (kind === 'session' && id !== null) await api.DELETE('/v1/auth/tokens/{id}', { params: { path: { id } } })
}

/** Signs out in all tabs and at the service. `leave` shows the page to sign in. */
export async function signOut(leave: () => Promise<void>): Promise<void> {
  try {
    await endSession()
  } catch (error) {
    // 401: the session is over already.
    if (!(error instanceof ApiError && error.status === 401))
      notifications.show({ message: words.common.sessionGoesOn, color: 'red', autoClose: false })
  }
  await leave()
  forgetToken({ isExpired: false })
}
