import { ApiError } from '@event-commerce/client'
import { Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useSessionStorage } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Refusal } from '../../parts/refusal'
import { language, loadWords, words } from '../../words'
import { openSession, requestCode } from './service'

const authWords = await loadWords('auth')

interface Requested {
  email: string
  request_id: string
}

/** The language of the e-mail has the name that the API gives it. */
const apiLanguage = language === 'sv' ? 'se' : language

/** Asks for the address, and then for the code of the e-mail. Phones close a page while its person reads e-mails. */
export function CodeForm({ enter }: { enter: (token: string) => void }) {
  const [requested, setRequested] = useSessionStorage<Requested | null>({
    key: 'ecm-requested-code',
    defaultValue: null,
    getInitialValueInEffect: false,
  })
  const forget = () => setRequested(null)
  if (requested === null) return <AddressForm setRequested={setRequested} />
  return (
    <CodeField
      requested={requested}
      setRequested={setRequested}
      enter={(token) => {
        forget()
        enter(token)
      }}
      change={forget}
    />
  )
}

const useRequest = (setRequested: (requested: Requested) => void) =>
  useMutation({
    mutationFn: async (email: string) => ({ email, request_id: (await requestCode(email, apiLanguage)).request_id }),
    onSuccess: setRequested,
  })

const send = (act: () => void) => (event: FormEvent) => {
  event.preventDefault()
  act()
}

function AddressForm({ setRequested }: { setRequested: (requested: Requested) => void }) {
  const [email, setEmail] = useState('')
  const request = useRequest(setRequested)
  const [fault] = request.error instanceof ApiError ? request.error.errors : []
  return (
    <form onSubmit={send(() => request.mutate(email.trim()))}>
      <Stack>
        <TextInput
          type="email"
          name="email"
          label={words.common.email}
          autoComplete="email"
          autoFocus
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={fault?.detail}
        />
        <Button type="submit" loading={request.isPending}>
          {authWords.sendCode}
        </Button>
        {request.error && !fault && <Refusal error={request.error} />}
      </Stack>
    </form>
  )
}

interface CodeFieldProps {
  requested: Requested
  setRequested: (requested: Requested) => void
  enter: (token: string) => void
  change: () => void
}

function CodeField({ requested, setRequested, enter, change }: CodeFieldProps) {
  const [code, setCode] = useState('')
  const again = useRequest((newRequest) => {
    setCode('')
    open.reset()
    setRequested(newRequest)
  })
  const open = useMutation({
    mutationFn: () => openSession({ request_id: requested.request_id, code }),
    onSuccess: enter,
  })
  const isWrong = open.error instanceof ApiError && [400, 401].includes(open.error.status)
  return (
    <form onSubmit={send(() => open.mutate())}>
      <Stack>
        <Text size="sm">
          {authWords.codeSent} <b className="break">{requested.email}</b>. {authWords.codeHint}
        </Text>
        <TextInput
          label={authWords.code}
          inputMode="numeric"
          autoComplete="one-time-code"
          autoFocus
          required
          maxLength={20}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          error={isWrong && authWords.codeRefused}
        />
        <Button type="submit" loading={open.isPending}>
          {words.common.signIn}
        </Button>
        {open.error && !isWrong && <Refusal error={open.error} />}
        {again.error && <Refusal error={again.error} />}
        <Group gap="md">
          <Anchor component="button" type="button" size="sm" onClick={() => again.mutate(requested.email)}>
            {authWords.sendAgain}
          </Anchor>
          <Anchor component="button" type="button" size="sm" onClick={change}>
            {authWords.otherAddress}
          </Anchor>
        </Group>
      </Stack>
    </form>
  )
}
