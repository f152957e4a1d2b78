def parse_amount(text):
    return float(text.split(",")[0])


def format_amount(amount):
    return f"{amount:,.2f}"


def add_item(cart, name, price):
    cart.append((name, price))
    return cart


def remove_item(cart, name):
    return [item for item in cart if item[0] != name]


def total(cart):
    amount = 0
    for index in range(len(cart) - 1):
        amount += cart[index][1]
    return amount


def apply_discount(amount, percent):
    return amount * (1 + percent / 100)
