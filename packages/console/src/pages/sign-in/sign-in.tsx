import { ApiError } from '@event-commerce/client'
import { Button, Container, Paper, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { queries } from '../../api'
import { caller } from '../../caller'
import { Heading } from '../../parts/heading'
import { Refusal } from '../../parts/refusal'
import { storeToken } from '../../session'
import { words } from '../../words'

const route = getRouteApi('/sign-in')

export function SignIn() {
  const { to } = route.useSearch()
  const router = useRouter()
  const form = useForm({ mode: 'uncontrolled', initialValues: { token: '' } })
  const enter = useMutation({
    mutationFn: async ({ token }: { token: string }) => {
      storeToken(token.trim())
      await queries.fetchQuery({ ...caller, staleTime: 0 })
    },
    onSuccess: () => router.history.push(to ?? '/console/'),
    onError: (error) =>
      error instanceof ApiError && error.status === 401 && form.setFieldError('token', words.common.tokenRefused),
  })
  return (
    <Container component="main" size={420} pt={80}>
      <Stack>
        <Heading title={words.common.signIn} />
        <Paper withBorder p="lg">
          <form onSubmit={form.onSubmit((values) => enter.mutate(values))}>
            <Stack>
              <PasswordInput
                label={words.common.token}
                required
                autoFocus
                autoComplete="off"
                {...form.getInputProps('token')}
              />
              <Button type="submit" loading={enter.isPending}>
                {words.common.signIn}
              </Button>
              {enter.error && !form.errors['token'] && <Refusal error={enter.error} />}
            </Stack>
          </form>
        </Paper>
      </Stack>
    </Container>
  )
}
