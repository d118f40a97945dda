import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Loaded } from '../../parts/loaded'
import { Refusal } from '../../parts/refusal'
import type { PendingSignIn } from '../../pending-sign-in'
import { forgetPendingSignIn, readToken } from '../../session'
import { loadWords, words } from '../../words'
import { readAnswer } from './identity-provider'
import { loadPerson, type Methods, openSession } from './service'

const authWords = await loadWords('auth')

interface Props {
  pending: PendingSignIn
  methods: UseQueryResult<Methods>
  enter: (token: string, to?: string) => void
  /** Shows the other ways to sign in. */
  leave: () => void
}

/** A sign-in that the address asked for. */
export function Pending({ pending, methods, enter, leave }: Props) {
  const close = () => {
    forgetPendingSignIn()
    leave()
  }
  const finish = (token: string, to?: string) => {
    forgetPendingSignIn()
    enter(token, to)
  }
  if (pending.kind !== 'answer') return <Question pending={pending} enter={finish} close={close} />
  return (
    <Loaded query={methods} heights={[36]}>
      {({ issuer, client_id }) => (
        <Answer
          parameters={pending.parameters}
          provider={issuer !== null && client_id !== null ? { issuer, clientId: client_id } : null}
          enter={finish}
          close={close}
        />
      )}
    </Loaded>
  )
}

/** The name of the person of a token. Null if nobody is signed in with it. */
function usePersonName(token: string | null): string | null {
  const { data } = useQuery({
    queryKey: ['person', token],
    queryFn: () => loadPerson(token ?? ''),
    enabled: token !== null,
    retry: false,
  })
  return data ? data.full_name || words.common.superuser : null
}

interface QuestionProps {
  pending: Exclude<PendingSignIn, { kind: 'answer' }>
  enter: (token: string) => void
  close: () => void
}

/**
 * Asks before a link signs somebody in. Whoever sends a link could make people work in another account without knowing,
 * and programs that look at e-mails would use it up.
 */
function Question({ pending, enter, close }: QuestionProps) {
  const present = usePersonName(readToken())
  const next = usePersonName(pending.kind === 'token' ? pending.token : null)
  const open = useMutation({
    mutationFn: async () => {
      if (pending.kind === 'link') return openSession({ link: pending.secret })
      await loadPerson(pending.token)
      return pending.token
    },
    onSuccess: (token) => enter(token),
  })
  return (
    <Paper withBorder p="lg">
      <Stack>
        {present !== null && (
          <Text>
            {authWords.signedInAs} <b className="break">{present}</b>
          </Text>
        )}
        <Text>{next === null ? authWords.linkQuestion : `${authWords.tokenQuestion} ${next}?`}</Text>
        {open.error && <Refusal error={open.error} />}
        <Group gap="xs">
          <Button loading={open.isPending} onClick={() => open.mutate()}>
            {words.common.signIn}
          </Button>
          <Button variant="default" onClick={close}>
            {present === null ? authWords.otherWay : authWords.stay}
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}

interface AnswerProps {
  parameters: URLSearchParams
  provider: { issuer: string; clientId: string } | null
  enter: (token: string, to?: string) => void
  close: () => void
}

/** Signs in with the answer of the identity provider. */
function Answer({ parameters, provider, enter, close }: AnswerProps) {
  const open = useMutation({
    mutationFn: async () => {
      if (provider === null) throw new Error(authWords.providerFailed)
      const { token, to } = await readAnswer(parameters, provider.issuer, provider.clientId)
      return { token: await openSession({ identity_token: token }), to }
    },
    onSuccess: ({ token, to }) => enter(token, to),
  })
  // The answer can be used once, so it is sent once, however often this is shown.
  const isSent = useRef(false)
  const { mutate } = open
  useEffect(() => {
    if (isSent.current) return
    isSent.current = true
    mutate()
  }, [mutate])
  if (!open.error)
    return (
      <Text aria-busy role="status">
        {authWords.signingIn}
      </Text>
    )
  return (
    <Stack>
      <Refusal error={open.error} />
      <Button variant="default" onClick={close}>
        {authWords.otherWay}
      </Button>
    </Stack>
  )
}
