import { Button } from '@mantine/core'
import { IconLogin2 } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { Refusal } from '../../parts/refusal'
import { loadWords } from '../../words'
import { leaveForProvider } from './identity-provider'
import { openSession } from './service'

const authWords = await loadWords('auth')

/** Leads to the OpenID Connect issuer. */
export function ProviderButton({ issuer, clientId, to }: { issuer: string; clientId: string; to: string }) {
  const leave = useMutation({ mutationFn: () => leaveForProvider(issuer, clientId, to) })
  return (
    <>
      <Button
        leftSection={<IconLogin2 size={18} aria-hidden />}
        loading={leave.isPending || leave.isSuccess}
        onClick={() => leave.mutate()}
      >
        {authWords.signInAt} {new URL(issuer).host}
      </Button>
      {leave.error && <Refusal error={leave.error} />}
    </>
  )
}

/** Signs in the person whom Cloudflare Access let through. */
export function AccessButton({ enter }: { enter: (token: string) => void }) {
  const open = useMutation({ mutationFn: () => openSession({}), onSuccess: enter })
  return (
    <>
      <Button leftSection={<IconLogin2 size={18} aria-hidden />} loading={open.isPending} onClick={() => open.mutate()}>
        {authWords.signInAt} Cloudflare Access
      </Button>
      {open.error && <Refusal error={open.error} />}
    </>
  )
}
