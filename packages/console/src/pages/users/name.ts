import type { Schema } from '../../api'
import { loadWords } from '../../words'

const usersWords = await loadWords('users')

type Named = Pick<Schema['User'], 'first_name' | 'last_name' | 'email' | 'phone_number'>

/** The name of a customer, or the address of one without a name. */
export const nameCustomer = ({ first_name, last_name, email, phone_number }: Named): string =>
  `${first_name} ${last_name}`.trim() || email || phone_number || usersWords.noName
