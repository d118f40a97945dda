import { ApiError } from '@event-commerce/client'
import { Button, PasswordInput, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Refusal } from '../../parts/refusal'
import { loadWords, words } from '../../words'
import { loadPerson } from './service'

const authWords = await loadWords('auth')

/** Signs in with an access token. It is tried before it is stored. */
export function TokenForm({ enter }: { enter: (token: string) => void }) {
  const [token, setToken] = useState('')
  const check = useMutation({
    mutationFn: async () => {
      await loadPerson(token.trim())
      return token.trim()
    },
    onSuccess: (accepted) => enter(accepted),
  })
  const isRefused = check.error instanceof ApiError && check.error.status === 401
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        check.mutate()
      }}
    >
      <Stack>
        <PasswordInput
          label={words.common.token}
          autoFocus
          required
          autoComplete="off"
          value={token}
          onChange={(event) => setToken(event.currentTarget.value)}
          error={isRefused && words.common.tokenRefused}
        />
        <Button type="submit" variant="default" loading={check.isPending}>
          {authWords.signInByToken}
        </Button>
        {check.error && !isRefused && <Refusal error={check.error} />}
      </Stack>
    </form>
  )
}
